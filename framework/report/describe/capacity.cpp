#include <fmt/format.h>

#include <algorithm>

#include "framework/report/describe/describe.hpp"
#include "framework/report/describe/experiment_view.hpp"
#include "framework/report/render/heading.hpp"

namespace graphline::report {

namespace {

std::string_view key_of(bound_verdict verdict) {
  return verdict == bound_verdict::holds   ? "holds"
         : verdict == bound_verdict::fails ? "fails"
                                           : "open";
}

/// Returns "holds", "fails" or "held in 2 of 3", with remarks.
judgment outcome_of(const probe_summary& probe) {
  const auto all = probe.runs.size();
  if (all == 0) return {probe.disturbed > 0 ? "disturbed" : "not completed"};
  judgment made{fmt::format("held in {} of {}", probe.held, all)};
  if (probe.held == all) made = {"holds", judgment::kind::good};
  if (probe.held == 0) made = {"fails", judgment::kind::bad};
  if (!probe.pooled) made.word += " *";
  if (probe.growing == all) {
    made.word += ", queue grows";
  } else if (probe.cut_off) {
    made.word += ", cut off";
  }
  return made;
}

table probe_table(const capacity_summary& summary, const capacity_settings& how) {
  using enum unit;
  const auto& set = summary.set;
  using p = const probe_summary&;
  const bool drops = std::ranges::any_of(summary.probes, [](p x) { return x.dropped > 0; });
  auto probes = summary.probes;
  std::ranges::stable_sort(probes, {}, &probe_summary::rate);
  return table_of<probe_summary>(
      {"probes", "Rates", "rate"},
      {{{"rate", set ? "factor" : "frame/s", summary.rate_unit(), 0,
         set ? "on the rates of all pipelines" : ""},
        [&](p x) { return cell(x.rate, summary.rate_unit()); }},
       {{"pipeline", "pipeline", {}, 0, "the one closest to its bound", set ? everywhere : 0U},
        [&](p x) { return set ? cell(set->members[x.member]) : cell(); }},
       {{"runs", "runs", none, 3}, [](p x) { return x.runs.size(); }},
       {{"counted_frames", "frames", none, 2}, [](p x) { return x.times.frames; }},
       {{"dropped", "dropped", none, 4, "", drops ? everywhere : in_data},
        [](p x) { return x.dropped; }},
       {data_column("late", none), [](p x) { return x.times.late; }},
       {{"late_share", "late %", share, 0,
         "over the bound, dropped, or unfinished when the run was cut off", shown},
        [](p x) { return x.times.frames > 0 ? cell(x.times.late_share(), share) : cell(); }},
       {{"p50", "p50", duration, 5}, [](p x) { return cell(x.times.p50, duration); }},
       {{"percentile", percentile_name(how.percentile), duration, 1},
        [](p x) { return cell(x.times.value, duration); }},
       {{"low", "from", duration, 6, "where the 95 % interval of the percentile begins"},
        [](p x) { return cell(x.times.low, duration); }},
       {{"high", "to", duration, 7}, [](p x) { return cell(x.times.high, duration); }},
       {data_column("clustering", none), [](p x) { return x.times.clustering; }},
       {data_column("verdict"), [](p x) { return key_of(x.times.verdict); }},
       {data_column("pooled"), [](p x) { return x.pooled; }},
       {data_column("held_in", none), [](p x) { return x.held; }},
       {data_column("disturbed_runs", none), [](p x) { return x.disturbed; }},
       {data_column("incomplete_runs", none), [](p x) { return x.incomplete; }},
       {data_column("queue_grew_in", none), [](p x) { return x.growing; }},
       {data_column("cut_off"), [](p x) { return x.cut_off; }},
       {{"outcome",
         "outcome",
         {},
         0,
         "a run holds if no more of its frames are late than the percentile allows; the first "
         "tenth of each run is not counted; *: exploratory runs, which the estimate leaves out"},
        outcome_of}},
      probes);
}

facts capacity_facts(const capacity_summary& summary) {
  using enum unit;
  const auto& of = summary.estimate;
  cell rate;
  if (of.rate) rate = estimate{{*of.rate, summary.rate_unit()}, of.low, of.high};
  return {"capacity",
          "Capacity",
          {{"value", summary.set ? "highest factor on all rates" : "highest rate", rate},
           {"runs", "", of.runs},
           {"frames", "", of.frames},
           {"closed_loop", "closed loop", cell(summary.closed_loop, frames_per_second),
            "all frames due at once"}}};
}

facts alone_facts(const bound_check& alone) {
  using enum unit;
  return {"alone",
          "",
          {{"counted_frames", "", alone.frames},
           {"late", "", alone.late},
           {"p50", "", cell(alone.p50, duration)},
           {"percentile", "", cell(alone.value, duration)},
           {"low", "", cell(alone.low, duration)},
           {"high", "", cell(alone.high, duration)},
           {"verdict", "", key_of(alone.verdict)}},
          in_data};
}

/// Returns what runs: the pipeline, or each pipeline of the set at the rates of its file.
std::vector<std::string> heading_of(const capacity_record& record, const settings& load) {
  const run_record& first = first_run(record);
  const auto& how = record.how;
  const auto percentile = percentile_name(how.percentile);
  const auto bound =
      how.bound > 0 ? format_duration(static_cast<double>(how.bound)) : "its deadline";
  const auto frames = counted(how.frames, "frame");
  if (!record.set) {
    settings way = first.run;
    way.arrival = arrival::closed;
    return {subject_of(first),
            fmt::format("{}, timing={}", way_of(way, first.cpu_cores), to_word(way.timing)),
            parameters_of(first.parameters),
            fmt::format("highest rate with {} within {}; arrivals {}, {} per run of the search",
                        percentile, bound, arrival_of(load), frames)};
  }
  std::vector<member_runs> members;
  for (const auto& member : record.runs.front().members) {
    members.push_back({record.set->members[members.size()], {&member}});
  }
  auto lines = set_heading(members, record.set->share, {}, {"frames"});
  lines.push_back(
      fmt::format("highest factor on all rates with {} of each pipeline within {}; {} "
                  "of the lowest rate per run of the search",
                  percentile, bound, frames));
  return lines;
}

}  // namespace

document describe(const capacity_record& record, const capacity_analysis& analysis) {
  const run_record& first = first_run(record);
  const auto& how = record.how;
  const auto& summary = analysis.summary;
  document made{"capacity",
                record.set ? record.set->name : first.pipeline,
                record.set ? record.set->description : first.description,
                {},
                {},
                {},
                "probes"};
  made.predicted = record.prediction.has_value();
  settings load = first.run;
  load.arrival = how.arrival;
  load.frames = how.frames;
  load.rate.reset();
  made.lines = heading_of(record, load);
  std::erase(made.lines, "");
  if (record.prediction) {
    made.lines.push_back(predicted_from(*record.prediction));
    made.lines.emplace_back(what_intervals_omit);
  }
  if (record.closed_loop) add_failures(made, first, " in the closed loop");
  for (const auto& run : record.runs) {
    for (const auto& member : run.members) {
      if (member.failure) add_failures(made, member, "");
    }
  }
  if (record.interrupted) {
    made.findings.push_back({"capacity_interrupted", finding_severity::failure});
  }
  made.parts.push_back(capacity_facts(summary));
  made.parts.push_back(probe_table(summary, how));
  if (!record.set) made.parts.push_back(alone_facts(summary.alone));
  made.findings.insert(made.findings.end(), analysis.findings.begin(), analysis.findings.end());
  if (summary.warning) made.findings.push_back(*summary.warning);
  made.parts.push_back(
      facts{"",
            "",
            {{"percentile", "", percentile_name(how.percentile)},
             {"bound_ms", "", how.bound > 0 ? cell(static_cast<double>(how.bound) / 1e6) : cell()},
             {"within", "", how.within},
             {"interrupted", "", record.interrupted}},
            in_data});
  add_origin(made, first, load);
  return made;
}

}  // namespace graphline::report
