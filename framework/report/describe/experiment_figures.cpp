#include <algorithm>
#include <iterator>

#include "framework/report/describe/describe.hpp"
#include "framework/report/describe/experiment_view.hpp"
#include "framework/report/json/json_text.hpp"

namespace graphline::report {

namespace {

using enum unit;

cell in_ms(const auto& ns) {
  return ns ? cell(milliseconds(*ns)) : cell();
}

cell deadline_of(const std::optional<deadline_summary>& of) {
  if (!of) return {};
  std::vector<named_value> list = {{"limit_ms", quantity{milliseconds(of->limit)}},
                                   {"missed", quantity{static_cast<double>(of->misses.missed)}},
                                   {"frames", quantity{static_cast<double>(of->misses.frames)}}};
  if (of->median_late) list.push_back({"median_late_ms", quantity{milliseconds(*of->median_late)}});
  if (of->worst_late) list.push_back({"worst_late_ms", quantity{milliseconds(*of->worst_late)}});
  return list;
}

cell share_of(std::size_t some, std::size_t all) {
  return all == 0 ? cell() : cell(static_cast<double>(some) / static_cast<double>(all), share);
}

/// What people see of a pipeline beside its times, and all that programs do.
const std::vector<column_of<member_summary>>& member_figures() {
  using s = const member_summary&;
  static const std::vector<column_of<member_summary>> columns = {
      {data_column("trials"), [](s x) { return x.trials; }},
      {data_column("end_to_end"), [](s x) { return samples_of(x.end_to_end); }},
      {data_column("tail_ms"), [](s x) { return in_ms(x.tail); }},
      {data_column("stddev_over_trials_ms"), [](s x) { return in_ms(x.between_trials); }},
      {{"stddev", "stddev", duration, 0, "over trials, of their medians", shown},
       [](s x) {
         if (x.latency_grows()) return cell("");
         return x.end_to_end ? cell(x.between_trials, duration) : cell();
       }},
      {data_column("trial_medians_ns"),
       [](s x) { return whole_numbers(x.trial_medians.begin(), x.trial_medians.end()); }},
      {data_column("throughput"), [](s x) { return cell(x.throughput, frames_per_second); }},
      {{"cores", "cores", none, 0, "busy on average while frames ran, by the whole process"},
       [](s x) { return cell(x.cores); }},
      {data_column("device_bytes"), [](s x) { return x.device_bytes; }},
      {{"device_memory", "device memory", bytes, 0, "", shown},
       [](s x) { return x.trials > 0 ? cell(x.device_bytes, bytes) : cell(); }},
      {data_column("due"), [](s x) { return x.due; }},
      {data_column("dropped"), [](s x) { return x.dropped; }},
      {data_column("deadline"), [](s x) { return deadline_of(x.deadline); }},
      {{"dropped_share", "dropped %", share, 0, "", shown},
       [](s x) { return share_of(x.dropped, x.due); }}};
  return columns;
}

/// A configuration, and below it each of its pipelines. What a row of the other level does not have
/// is left out of it.
table configuration_table(const experiment_view& of) {
  table made{"configurations", "", "configuration", "member", {}, {}, in_data};
  made.columns = {{"name"}, {"id"}, {"assignments"}};
  for (const auto& one : member_figures()) made.columns.push_back(one.is);
  for (auto& one : made.columns) one.optional = true;
  for (std::size_t c = 0; c < of.record.configurations.size(); ++c) {
    const auto& [name, assignments, members] = of.record.configurations[c];
    row line{{name, experiment_labels::id(c), parameters_fact(assignments).value}};
    line.cells.resize(made.columns.size());
    made.rows.push_back(std::move(line));
    for (const auto& member : of.summary.configurations[c].members) {
      made.rows.push_back({{member.name, cell(), cell()}, 1});
      auto figures = row_of(member, member_figures()).cells;
      std::ranges::move(figures, std::back_inserter(made.rows.back().cells));
    }
  }
  return made;
}

table stage_times(const experiment_view& of) {
  table made{"stages",
             "",
             "stage",
             "",
             {{"stage"}, {"configuration"}, {"member"}, {"on"}, {"measure"}, {"times"}},
             {},
             in_data};
  for (const auto& who : of.labels.all()) {
    for (const auto& stage : of.of(who).stages) {
      made.rows.push_back(
          {{stage.name, of.record.configurations[who.configuration].name, of.of(who).name, stage.on,
            stage.what, stage.what ? cell(samples_of(stage.times)) : cell()}});
    }
  }
  return made;
}

}  // namespace

void add_costs(document& to, const experiment_view& of) {
  const auto members = of.labels.all();
  auto columns = of.names();
  const auto is_some = [&](const column_of<member_summary>& one) {
    return std::ranges::any_of(members, [&](const configuration_member& who) {
      const auto number = one.value(of.of(who)).number();
      return number && number->value != 0;
    });
  };
  for (const auto& one : member_figures()) {
    if ((one.is.where & shown) == 0 || !is_some(one)) continue;
    columns.push_back(
        {one.is, [&of, &one](const compared_member& x) { return one.value(of.of(x.who)); }});
  }
  table made{"costs", "beside time", "configuration", "", columns_of(columns), {}, shown};
  made.titled = true;
  for (const auto& who : members) made.rows.push_back(row_of({who}, columns));
  if (of.has_figures(made)) to.parts.push_back(std::move(made));
}

void add_data(document& to, const experiment_view& of) {
  const auto& summary = of.summary;
  const auto& blocks = summary.machine.affected_blocks;
  to.parts.push_back(facts{"",
                           "",
                           {{"complete_blocks", "", summary.complete_blocks},
                            {"counted_blocks", "", summary.counted_blocks},
                            {"trials_left_out", "", summary.trials_left_out},
                            {"stopped", "", of.record.stopped},
                            {"interrupted", "", of.record.interrupted},
                            {"failure", "", of.record.failure}},
                           in_data});
  to.parts.push_back(facts{"steadiness",
                           "",
                           {{"drift", "", summary.machine.drift},
                            {"affected_blocks", "", whole_numbers(blocks.begin(), blocks.end())}},
                           in_data});
  to.parts.push_back(configuration_table(of));
  to.parts.push_back(stage_times(of));
  to.parts.push_back(comparison_table(of));
}

}  // namespace graphline::report
