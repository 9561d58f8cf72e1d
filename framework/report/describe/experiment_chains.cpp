#include <fmt/format.h>

#include <algorithm>

#include "framework/report/describe/experiment_view.hpp"

namespace graphline::report {

namespace {

using enum unit;
using chain_time = chain_figures chain_summary::*;

const char* word_of(chain_time which) {
  return which == &chain_summary::age ? "age" : "reaction";
}

cell late_cell(const chain_figures& of) {
  return of.bound ? cell(of.bound->late) : cell();
}

/// Adds the table of the data age or the reaction time. Without comparisons, it has the interval of
/// p50 in place of that of the change. The table of the data age holds what JSON and CSV have.
void add_times(document& to, const experiment_view& of, chain_time which, table made,
               const std::string& help) {
  using c = const chain_summary&;
  using d = const comparison&;
  const auto& all = of.summary.chain_comparisons;
  std::vector<column_of<chain_summary>> columns = {
      {{"chain", "chain"}, [&of](c x) { return of.record.chains[x.chain].name; }}};
  const auto add = [&columns](column is, auto value) {
    is.where = shown;
    columns.push_back({std::move(is), value});
  };
  const auto names = of.names();
  for (std::size_t i = of.several_at_once ? 1 : 0; i < names.size(); ++i) {
    add(names[i].is, [value = names[i].value](c x) {
      return value({.who = {x.configuration, 0}});
    });
  }
  for (const auto what : {figure::p50, figure::tail}) {
    const bool main = what == figure::p50;
    const int rank = main ? 0 : 1;
    const double p = main ? 0.5 : of.record.how.tail;
    const std::string key(to_word(what));
    const auto compared = [&, which, what](auto value, const char* of_baseline = "") {
      return [=, &of, &all](c x) {
        const auto found = std::ranges::find_if(all, [&](d one) {
          return one.pair.what.configuration == x.configuration && one.chain == x.chain &&
                 one.times == which && one.figure == what;
        });
        if (found != all.end()) return value(*found);
        return cell(of.is_baseline({x.configuration, 0}) ? of_baseline : "");
      };
    };
    add({key, figure_name(what, p), duration, rank, main ? help : ""}, [=](c x) {
      const auto& times = (x.*which).times;
      const bool grows = main && times && !times->why_unsettled().empty();
      if (grows) return cell(judgment{"overloaded", judgment::kind::bad});
      return times ? cell(times->percentile(p), duration) : cell();
    });
    add({key + "_change", "change %", change, main ? 0 : 3},
        compared([](d x) { return cell(x.change(), change); },
                 main && !all.empty() ? "baseline" : ""));
    if (main && all.empty()) {
      add({"interval", "95 % interval", duration, 2}, [=](c x) {
        const auto& known = (x.*which).intervals;  // that of p50 first
        return known.empty() ? cell() : span_of{known[0].low, known[0].high, duration};
      });
    } else if (main) {
      add({"interval", "95 % interval", change, 2,
           "of the change; simultaneous for all comparisons of chains"},
          compared([](d x) { return change_cell(x.change_range()); }));
    }
    add({key + "_verdict", "verdict", {}, main ? 0 : 3},
        compared([](d x) { return x.change_range() ? verdict_cell(x.verdict) : cell(); }));
  }
  add({"max", "max", duration, 1}, [=](c x) {
    const auto& times = (x.*which).times;
    return times ? cell(times->max(), duration) : cell();
  });
  add({"late", "late", count, 0, "longer than the bound"},
      [=](c x) { return late_cell(x.*which); });
  if (which == &chain_summary::age) {
    columns.push_back({{"unused", "unused", count, 4, "samples that no output used"},
                       [](c x) { return cell(x.unused, count); }});
    columns.push_back({data_column("used"), [](c x) { return x.used; }});
    columns.push_back({data_column("configuration"),
                       [&of](c x) { return of.record.configurations[x.configuration].name; }});
    columns.push_back(
        {data_column("why_unknown"), [](c x) { return unless_empty(x.why_unknown); }});
    for (const chain_time time : {&chain_summary::age, &chain_summary::reaction}) {
      columns.push_back({data_column(word_of(time)), [time](c x) {
                           return sampled{samples_of((x.*time).times).of, (x.*time).intervals};
                         }});
      columns.push_back({data_column(fmt::format("{}_late", word_of(time))),
                         [time](c x) { return late_cell(x.*time); }});
    }
  }
  made.titled = made.blanks = true;
  to.parts.push_back(table_of(std::move(made), columns, of.summary.chains));
}

}  // namespace

void add_chains(document& to, const experiment_view& of) {
  using d = const comparison&;
  if (of.summary.chains.empty()) return;
  add_times(to, of, &chain_summary::age, {"chains", "Data age of chains", "chain"},
            "from a sample's due time to the end of the last output that uses it");
  add_times(to, of, &chain_summary::reaction,
            {"reaction", "Reaction time of chains", "chain", "", {}, {}, shown},
            "from a sample's due time to the end of the first output that uses the next sample or "
            "a later one");
  const auto name = [&of](std::size_t i) { return of.record.configurations[i].name; };
  to.parts.push_back(
      comparison_table("chain_comparisons",
                       {{{"chain"}, [&of](d x) { return of.record.chains[x.chain].name; }},
                        {{"time"}, [](d x) { return word_of(x.times); }},
                        {{"configuration"}, [=](d x) { return name(x.pair.what.configuration); }},
                        {{"reference"}, [=](d x) { return name(x.pair.reference.configuration); }}},
                       of.summary.chain_comparisons));
  for (const chain_summary& each : of.summary.chains) {
    if (each.why_unknown.empty()) continue;
    to.parts.push_back(
        note{fmt::format("chain {}, {}: no times, because {}", of.record.chains[each.chain].name,
                         name(each.configuration), each.why_unknown)});
  }
}

}  // namespace graphline::report
