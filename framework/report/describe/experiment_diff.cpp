#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "framework/report/describe/describe.hpp"
#include "framework/report/describe/experiment_view.hpp"

namespace graphline::report {

namespace {

using enum unit;

/// Counts the verdicts on p50: "2 of 4 configurations faster, 1 same, 1 inconclusive".
std::string answer(const experiment_diff& found) {
  std::vector<const configuration_change*> changes;
  for (const auto& change : found.changes) {
    if (change.figure == figure::p50) changes.push_back(&change);
  }
  if (changes.empty()) return "no configuration was measured in both";
  std::string text;
  const auto add = [&](std::string_view word, std::ptrdiff_t count) {
    if (count == 0) return;
    text += text.empty() ? fmt::format("{} of {} configurations", count, changes.size())
                         : fmt::format(", {}", count);
    text += fmt::format(" {}", word);
  };
  for (const auto& [word, verdict] : verdict_words) {
    add(word, std::ranges::count_if(changes, [verdict = verdict](const auto* one) {
          return !one->overloaded && one->verdict == verdict;
        }));
  }
  add("overloaded",
      std::ranges::count_if(changes, [](const auto* one) { return one->overloaded; }));
  return "by p50 end to end " + text;
}

table change_table(const experiment_diff& found, figure what, const experiment_labels& labels) {
  using c = const configuration_change&;
  const auto in = unit_of(what);
  const bool late = what == figure::late;
  const auto title = late ? "late %" : figure_name(what, found.tail.before);
  auto changes = found.changes;
  std::erase_if(changes, [&](c x) { return x.figure != what; });
  return table_of<configuration_change>(
      {std::string(to_word(what)), title, "configuration"},
      {{{"label", title, {}, 0, "", shown}, [&](c x) { return labels.of(x.who); }},
       {data_column("configuration"), [](c x) { return x.name; }},
       {{"before", "before", in}, [=](c x) { return cell(x.values.before, in); }},
       {{"after", "after", in}, [=](c x) { return cell(x.values.after, in); }},
       {{"change", late ? "points" : "change %", change, 0,
         late ? "change in late frames, in percentage points" : ""},
        [](c x) { return cell(x.change(), change); }},
       {{"interval", "95 % interval", change, 2},
        [](c x) { return change_cell(x.change_range()); }},
       {{"verdict", "verdict"},
        [=](c x) {
          const bool decided = x.verdict != verdict::inconclusive;
          return x.overloaded && !decided ? cell(judgment{"overloaded", judgment::kind::bad})
                                          : verdict_cell(x.verdict, what);
        }},
       {data_column("trials_before", none), [](c x) { return x.trials.before; }},
       {data_column("trials_after", none), [](c x) { return x.trials.after; }}},
      changes);
}

note notes_of(const experiment_diff& found) {
  using c = const configuration_change&;
  const auto intervals =
      std::ranges::count_if(found.changes, [](c one) { return one.change_range().has_value(); });
  const auto overloaded = std::ranges::count_if(
      found.changes, [](c one) { return one.overloaded && !one.change_range(); });
  const bool late = std::ranges::any_of(
      found.changes, [](c one) { return one.figure == figure::late && one.change_range(); });
  std::string text;
  if (intervals > 0) {
    text += fmt::format(
        "95 % interval: of the change{1}; by bootstrap over the trials of either result, and "
        "Welch's t; it does not account for other changes between the two, such as clocks\nsame: "
        "the whole interval lies within {0:g} % of no change{2}\n",
        100 * found.margin,
        intervals > 1 ? fmt::format(", simultaneous for all {}", intervals) : "",
        late ? fmt::format(", of late frames from -{0:g} to +{0:g} points", 100 * found.margin)
             : "");
  }
  if (overloaded > 0) {
    text += "overloaded: latency grows with the length of a trial, and is not compared\n";
  }
  if (static_cast<std::size_t>(intervals + overloaded) < found.changes.size()) {
    text += fmt::format("no interval below {} trials of a configuration in each\n", found.needed);
  }
  if (found.tail.before != found.tail.after) {
    text += fmt::format("tails are not compared: {} before, {} after\n",
                        percentile_name(found.tail.before), percentile_name(found.tail.after));
  }
  const auto only = [&](std::string_view when, const std::vector<std::string>& names) {
    if (!names.empty()) text += fmt::format("only {}: {}\n", when, fmt::join(names, ", "));
  };
  only("before", found.only_before);
  only("after", found.only_after);
  return {std::move(text)};
}

}  // namespace

document diff(const experiment_record& before, const experiment_record& after,
              const experiment_diff& found) {
  const experiment_labels labels(before.configurations);
  judged_tables judged{answer(found), {}};
  if (labels.by_id()) judged.parts.push_back(id_table(labels, {}));
  for (const auto& [word, what] : figure_words) {
    auto made = change_table(found, what, labels);
    if (!made.rows.empty()) judged.parts.push_back(std::move(made));
  }
  judged.parts.push_back(notes_of(found));
  judged.parts.push_back(facts{"",
                               "",
                               {{"margin", "", found.margin},
                                {"only_before", "", found.only_before},
                                {"only_after", "", found.only_after}},
                               in_data});
  return diff(describe(before), describe(after), found.files.before, found.files.after, &judged);
}

}  // namespace graphline::report
