#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "framework/base/utf8.hpp"
#include "framework/report/terminal/diff_origin.hpp"
#include "framework/report/terminal/diff_table.hpp"
#include "framework/report/terminal/heading.hpp"
#include "framework/report/terminal/quantity.hpp"
#include "framework/report/terminal/text_table.hpp"

namespace graphline {

namespace {

using enum text_table::align;

/// By how much longer or shorter a stage takes, without its sign; nothing unless both are known.
std::optional<double> moved_by(const floor_change& stage) {
  const auto time = stage.measured();
  if (!time.before || !time.after) return std::nullopt;
  return std::abs(*time.after - *time.before);
}

/// Of the stage whose time changed most.
std::string answer(const roofline_diff& diff, const look& as) {
  const auto most =
      std::max_element(diff.stages.begin(), diff.stages.end(),
                       [](const auto& a, const auto& b) { return moved_by(a) < moved_by(b); });
  auto text = subject_prefix(diff.origin);
  if (most == diff.stages.end() || !moved_by(*most)) {
    text += "no stage was measured in both";
  } else if (*moved_by(*most) == 0) {
    text += "all stages take as long as before";
  } else {
    text += fmt::format("most changed is {}, p50 {}", quote(most->name),
                        durations_in_words(most->measured()));
  }
  return paragraph(text, 2, as, tone::heading);
}

std::string ratio_cell(const std::optional<double>& ratio) {
  return ratio ? three_digits(*ratio, 2) : "-";
}

std::string stage_table(const roofline_diff& diff, const look& as) {
  double largest = 0;
  for (const auto& stage : diff.stages) {
    const auto time = stage.measured();
    largest = std::max({largest, time.before.value_or(0), time.after.value_or(0)});
  }
  const auto unit = unit_for(largest);
  text_table table({{fmt::format("stage ({})", unit.name), left, 10},
                    {"before"},
                    {"after"},
                    {"change %"},
                    {"ratio before"},
                    {"ratio after"}});
  for (const auto& stage : diff.stages) {
    const auto time = stage.measured();
    const auto ratio = stage.ratio();
    table.add_row({table_name(stage.name, as.room(28)), in_unit(time.before, unit),
                   in_unit(time.after, unit), percent_cell(time), ratio_cell(ratio.before),
                   ratio_cell(ratio.after)});
  }
  return table.text(as);
}

bool floor_changed(const roofline_diff& diff) {
  return std::any_of(diff.stages.begin(), diff.stages.end(), [](const floor_change& stage) {
    const auto change = stage.least().relative();
    return change && *change != 0;
  });
}

std::string notes(const roofline_diff& diff, const look& as) {
  auto text = paragraph(
      "before, after: the median; ratio: that over the least time; \"-\": not known, as of CPU "
      "stages",
      2, as, tone::faint);
  if (floor_changed(diff)) {
    text += paragraph(
        "least times are not the same in both: a ratio changed by the calibration or the work too, "
        "not by the stage's time alone",
        2, as, tone::faint);
  }
  return text + paragraph(
                    "One run each: how much runs differ from each other is not known, so there is "
                    "no verdict; 'graphline compare' tells.",
                    0, as, tone::faint);
}

}  // namespace

std::string diff_table(const roofline_diff& diff, const look& as) {
  auto text = subjects_line(diff.origin, "pipelines", as) + answer(diff, as);
  text += file_lines(diff.origin, as) +
          ending_lines(diff.origin, diff.interrupted, diff.failure, as) + "\n";
  if (!diff.stages.empty()) text += stage_table(diff, as) + "\n";
  return text + differences_table(diff.origin, as) + "\n" + notes(diff, as);
}

}  // namespace graphline
