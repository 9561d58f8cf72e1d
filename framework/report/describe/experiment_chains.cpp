#include <fmt/format.h>

#include <algorithm>

#include "framework/report/describe/experiment_view.hpp"

namespace graphline::report {

namespace {

using enum unit;
using chain_columns = std::vector<column_of<chain_summary>>;

cell percentile_cell(const chain_figures& of, double p) {
  return of.times ? cell(of.times->percentile(p), duration) : cell();
}

cell median_interval(const chain_figures& of) {
  const auto found = std::ranges::find(of.intervals, 0.5, &percentile_interval::p);
  if (found == of.intervals.end()) return {};
  const auto end = [](const auto& ns) { return ns ? std::optional<double>(*ns) : std::nullopt; };
  return span_of{end(found->low), end(found->high), duration};
}

/// Adds the columns of the data age or the reaction time.
void add_times(chain_columns& to, std::string key, const std::string& title,
               chain_figures chain_summary::*which, const std::string& help) {
  using c = const chain_summary&;
  to.push_back({data_column(key), [which](c x) {
                  sampled times = samples_of((x.*which).times);
                  times.intervals = (x.*which).intervals;
                  return times;
                }});
  to.push_back({{key + "_p50", title + " p50", duration, 0, help, shown},
                [which](c x) { return percentile_cell(x.*which, 0.5); }});
  to.push_back({{key + "_interval", "95 % interval", duration, 2, "", shown},
                [which](c x) { return median_interval(x.*which); }});
  to.push_back({{key + "_p99", "p99", duration, 1, "", shown},
                [which](c x) { return percentile_cell(x.*which, 0.99); }});
  to.push_back({{key + "_max", "max", duration, 0, "", shown}, [which](c x) {
                  const auto& times = (x.*which).times;
                  return times ? cell(times->max(), duration) : cell();
                }});
  to.push_back({{key + "_late", "over bound", count, 0, ""},
                [which](c x) { return cell((x.*which).late); }});
}

}  // namespace

void add_chains(document& to, const experiment_view& of) {
  using c = const chain_summary&;
  if (of.summary.chains.empty()) return;
  chain_columns columns = {
      {{"chain", "chain"}, [&of](c x) { return of.record.chains[x.chain].name; }},
      {{"configuration", "configuration"},
       [&of](c x) { return of.record.configurations[x.configuration].name; }}};
  add_times(columns, "age", "age", &chain_summary::age,
            "from a sample's due time to the end of the last output that uses it");
  add_times(columns, "reaction", "reaction", &chain_summary::reaction,
            "from a sample's due time to the end of the first output that uses the next sample or "
            "a later one");
  columns.push_back({{"used", "samples", count, 3, "that an output used"},
                     [](c x) { return cell(x.used, count); }});
  columns.push_back({{"unused", "unused", count, 0, "samples that no output used"},
                     [](c x) { return cell(x.unused, count); }});
  columns.push_back({data_column("why_unknown"), [](c x) { return unless_empty(x.why_unknown); }});
  table made{"chains", "Cause-effect chains", "chain"};
  made.titled = true;
  to.parts.push_back(table_of(std::move(made), columns, of.summary.chains));
  for (const chain_summary& each : of.summary.chains) {
    if (each.why_unknown.empty()) continue;
    to.parts.push_back(
        note{fmt::format("chain {}, {}: no times, because {}", of.record.chains[each.chain].name,
                         of.record.configurations[each.configuration].name, each.why_unknown)});
  }
}

}  // namespace graphline::report
