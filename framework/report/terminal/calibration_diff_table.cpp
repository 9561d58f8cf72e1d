#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "framework/analysis/roofline/ceiling_label.hpp"
#include "framework/report/terminal/ceiling_words.hpp"
#include "framework/report/terminal/diff_origin.hpp"
#include "framework/report/terminal/diff_table.hpp"
#include "framework/report/terminal/heading.hpp"
#include "framework/report/terminal/text_table.hpp"

namespace graphline {

namespace {

using enum text_table::align;

std::string name_of(const ceiling_change& change) {
  return label_of(change.what, change.arithmetic);
}

std::string cell(const std::optional<double>& value, ceiling what) {
  return value ? in_units(*value, unit_of(what)) : "-";
}

/// The changes that are more than spread, the largest first.
std::vector<const ceiling_change*> changed(const calibration_diff& diff) {
  std::vector<const ceiling_change*> found;
  for (const auto& change : diff.ceilings) {
    if (change.beyond_spread() == true) found.push_back(&change);
  }
  const auto size = [](const ceiling_change* change) {
    return std::abs(std::log1p(change->value().relative().value_or(0)));
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const auto* a, const auto* b) { return size(a) > size(b); });
  return found;
}

std::string answer(const calibration_diff& diff, const look& as) {
  const auto in_both =
      std::count_if(diff.ceilings.begin(), diff.ceilings.end(),
                    [](const auto& change) { return change.beyond_spread().has_value(); });
  const auto what = subject_prefix(diff.origin);
  const auto beyond = changed(diff);
  auto text = fmt::format("{}no ceiling was measured in both", what);
  if (in_both > 0) {
    text = fmt::format("{}{} of {} changed by more than their spread", what,
                       beyond.empty() ? "none" : std::to_string(beyond.size()),
                       counted(in_both, "ceiling"));
  }
  if (!beyond.empty()) {
    text += fmt::format("; most: {}, {} %", name_of(*beyond.front()),
                        percent_cell(beyond.front()->value()));
  }
  return paragraph(text, 2, as, tone::heading);
}

std::string ceiling_table(const calibration_diff& diff, const look& as) {
  text_table table({{"ceiling", left, 10},
                    {"before", right},
                    {"after", right},
                    {"change %"},
                    {"beyond spread", left}});
  for (const auto& change : diff.ceilings) {
    const auto value = change.value();
    const auto beyond = change.beyond_spread();
    table.add_row({name_of(change), cell(value.before, change.what), cell(value.after, change.what),
                   percent_cell(value),
                   beyond ? *beyond ? toned("yes", tone::warning, as) : "no" : "-"});
  }
  return table.text(as);
}

}  // namespace

std::string diff_table(const calibration_diff& diff, const look& as) {
  auto text = subjects_line(diff.origin, "devices", as) + answer(diff, as);
  text += file_lines(diff.origin, as) + ending_lines(diff.origin, diff.interrupted, {}, as) + "\n";
  if (!diff.ceilings.empty()) text += ceiling_table(diff, as) + "\n";
  text += differences_table(diff.origin, as) + "\n";
  text += paragraph(
      "beyond spread: whether the two lie apart, each from its 10th to its 90th percentile time", 2,
      as, tone::faint);
  return text + paragraph(
                    "One calibration each: how much calibrations differ from each other is not "
                    "known, so there is no verdict; 'graphline calibrate' a few times more tells.",
                    0, as, tone::faint);
}

}  // namespace graphline
