#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "framework/analysis/experiment/comparison_text.hpp"
#include "framework/base/quantity.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/terminal/diff_origin.hpp"
#include "framework/report/terminal/diff_table.hpp"
#include "framework/report/terminal/experiment_rows.hpp"
#include "framework/report/terminal/heading.hpp"
#include "framework/report/terminal/text_table.hpp"

namespace graphline {

namespace {

using enum text_table::align;

std::vector<const configuration_change*> changes_of(const experiment_diff& diff, figure what) {
  std::vector<const configuration_change*> found;
  for (const auto& change : diff.changes) {
    if (change.figure == what) found.push_back(&change);
  }
  return found;
}

/// "2 of 4 configurations faster, 1 same, 1 undecided", by p50.
std::string answer(const experiment_diff& diff, const look& as) {
  const auto changes = changes_of(diff, figure::p50);
  const auto what = subject_prefix(diff.origin);
  if (changes.empty()) {
    return paragraph(fmt::format("{}no configuration was measured in both", what), 2, as,
                     tone::heading);
  }
  if (changes.size() == 1) {
    const auto& only = *changes.front();
    return paragraph(fmt::format("{}{}: p50 end to end {}: {}", what, printable(only.name),
                                 durations_in_words(only.values), to_word(only.verdict)),
                     2, as, tone::heading);
  }
  std::string text;
  for (const auto verdict : {verdict::faster, verdict::slower, verdict::same, verdict::undecided}) {
    const auto count = std::count_if(changes.begin(), changes.end(),
                                     [&](const auto* c) { return c->verdict == verdict; });
    if (count == 0) continue;
    text += text.empty() ? fmt::format("{} of {} configurations", count, changes.size())
                         : fmt::format(", {}", count);
    text += fmt::format(" {}", to_word(verdict));
  }
  return paragraph(fmt::format("{}by p50 end to end {}", what, text), 2, as, tone::heading);
}

/// Nanoseconds or frames a second, in the unit of the whole table.
std::string cell(const std::optional<double>& value, double size) {
  return value ? three_digits(*value / size, 3) : "-";
}

/// What configurations are called: by name, or by the ids of the first experiment.
class change_names {
 public:
  change_names(const experiment_diff& diff, const look& as)
      : diff_(diff), labels_(diff.declared), by_id_(labels_.by_id() || as.width < 80) {
    constexpr std::size_t longest = 26;  // with which the tables fit into 80 columns
    for (const auto& change : diff.changes) by_id_ = by_id_ || change.name.size() > longest;
  }

  std::string of(const configuration_change& change) const {
    if (!by_id_) return printable(change.name);
    const auto& [configuration, member] = change.who;
    const auto& members = diff_.declared[configuration].members;
    const auto id = labels_.id(configuration);
    return members.size() < 2 ? id : fmt::format("{}: {}", id, printable(members[member]));
  }

  std::string legend(const look& as) const {
    return by_id_ ? "\n" + legend_of(labels_, {}, as) : "";
  }

  bool many() const { return labels_.many(); }

 private:
  const experiment_diff& diff_;
  experiment_labels labels_;
  bool by_id_;
};

/// Of many configurations p50 stands for all; of the other figures those that changed are shown.
std::string figure_table(const experiment_diff& diff, figure what, std::string_view name,
                         const change_names& names, const look& as) {
  auto changes = changes_of(diff, what);
  const auto all = changes.size();
  if (names.many() && what != figure::p50) {
    std::erase_if(changes, [](const auto* change) {
      return change->verdict != verdict::faster && change->verdict != verdict::slower;
    });
  }
  if (all == 0) return "";
  if (changes.empty()) {
    return paragraph(fmt::format("{}: no change known in any configuration", name), 2, as) + "\n";
  }
  double largest = 0;
  for (const auto* change : changes) {
    largest =
        std::max({largest, change->values.before.value_or(0), change->values.after.value_or(0)});
  }
  const auto unit = what == figure::throughput ? time_unit{"frame/s"} : unit_for(largest);
  text_table table({{fmt::format("{} ({})", name, unit.name), left},
                    {"before"},
                    {"after"},
                    {"change %"},
                    {"from", number, 0, 1},
                    {"to", number, 0, 1},
                    {"verdict", left}});
  for (const auto* change : changes) {
    const auto& range = change->ratio_range;
    table.add_row({names.of(*change), cell(change->values.before, unit.nanoseconds),
                   cell(change->values.after, unit.nanoseconds), percent_cell(change->values),
                   range ? percent_change(range->low) : "-",
                   range ? percent_change(range->high) : "-", verdict_word(change->verdict, as)});
  }
  table.drop_empty_columns();
  auto text = table.text(as);
  if (changes.size() < all) {
    text += paragraph(fmt::format("no change known in the other {}", all - changes.size()), 2, as);
  }
  return text + "\n";
}

std::string only_line(std::string_view when, const std::vector<std::string>& names,
                      const look& as) {
  std::string list;
  for (const auto& name : names) {
    list += fmt::format("{}{}", list.empty() ? "" : ", ", printable(name));
  }
  return list.empty() ? "" : paragraph(fmt::format("only {}: {}", when, list), 2, as);
}

std::string notes(const experiment_diff& diff, const look& as) {
  const auto intervals =
      std::count_if(diff.changes.begin(), diff.changes.end(),
                    [](const configuration_change& change) { return !!change.ratio_range; });
  std::string text;
  if (intervals > 0) {
    text += paragraph(
        fmt::format("from, to: 95 % interval of the change{}; by bootstrap over the trials of "
                    "either result, and Welch's t",
                    intervals > 1 ? fmt::format(", all {} together", intervals) : ""),
        2, as, tone::faint);
    text += paragraph(
        fmt::format("same: the whole interval lies within {:g} % of no change", 100 * diff.margin),
        2, as, tone::faint);
    text += paragraph(
        "An interval knows how trials differ within each of the two, and nothing of what changed "
        "between them besides, such as clocks or other load on the machine.",
        0, as, tone::faint);
  }
  if (static_cast<std::size_t>(intervals) < diff.changes.size()) {
    text += paragraph(
        fmt::format("no interval below {} trials of a configuration in each", least_blocks), 2, as,
        tone::faint);
  }
  if (diff.tail.before != diff.tail.after) {
    text +=
        paragraph(fmt::format("tails are not compared: {} before, {} after",
                              percentile_name(diff.tail.before), percentile_name(diff.tail.after)),
                  2, as, tone::faint);
  }
  return text.empty() ? "" : "\n" + text;
}

}  // namespace

std::string diff_table(const experiment_diff& diff, const look& as) {
  std::string text = subjects_line(diff.origin, "experiments", as) + answer(diff, as);
  text += file_lines(diff.origin, as);
  text += ending_lines(diff.origin, diff.interrupted, diff.failure, as);
  const change_names names(diff, as);
  text += names.legend(as);
  text += "\n" + figure_table(diff, figure::p50, "p50", names, as);
  text += figure_table(diff, figure::tail, percentile_name(diff.tail.before), names, as);
  text += figure_table(diff, figure::throughput, "throughput", names, as);
  const auto only =
      only_line("before", diff.only_before, as) + only_line("after", diff.only_after, as);
  if (!only.empty()) text += only + "\n";
  return text + differences_table(diff.origin, as) + notes(diff, as);
}

}  // namespace graphline
