#include <fmt/format.h>

#include <algorithm>

#include "framework/analysis/run/disturbance.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/terminal/heading.hpp"

namespace graphline::report {

namespace {

std::string_view key_of(bound_verdict verdict) {
  switch (verdict) {
    case bound_verdict::holds:
      return "holds";
    case bound_verdict::fails:
      return "fails";
    case bound_verdict::open:
      break;
  }
  return "open";
}

template <class T>
cell plain(T number) {
  return quantity{static_cast<double>(number), unit::none};
}

/// "holds", or in how many of its runs it held.
std::string outcome_of(const probe_summary& probe) {
  const auto all = probe.runs.size();
  auto text = fmt::format("held in {} of {}", probe.held, all);
  if (probe.held == all) text = "holds";
  if (probe.held == 0) text = "fails";
  if (!probe.pooled) text += " *";
  if (probe.cut_off) text += ", cut off";
  if (probe.growing == all) text += ", queue grows";
  return text;
}

table probe_table(const capacity_summary& summary, const capacity_settings& how) {
  using enum unit;
  const auto name = percentile_name(how.percentile);
  table made{
      "probes",
      "Rates",
      "rate",
      "",
      {{"rate", "frame/s", frames_per_second},
       {"runs", "runs", none},
       {"counted_frames", "frames", none},
       {"dropped", "dropped", none},
       {"late", "", none, 0, "", in_data},
       {"late_share", "late %", share, 0,
        "over the bound, dropped, or not waited for any longer in a run that was cut off", shown},
       {"p50", "p50", duration, 1},
       {"percentile", name, duration},
       {"low", "from", duration, 0, "where the 95 % interval of the percentile begins"},
       {"high", "to", duration},
       {"clustering", "", none, 0, "", in_data},
       {"verdict", "", {}, 0, "", in_data},
       {"pooled", "", {}, 0, "", in_data},
       {"held_in", "", none, 0, "", in_data},
       {"queue_grew_in", "", none, 0, "", in_data},
       {"cut_off", "", {}, 0, "", in_data},
       {"outcome",
        "verdict",
        {},
        0,
        "a run holds when no more of its frames are late than may be; the first tenth of each "
        "run is not counted; *: only to find about where, the estimate rests on the other runs",
        shown}},
      {}};
  const bool drops = std::any_of(summary.probes.begin(), summary.probes.end(),
                                 [](const auto& probe) { return probe.dropped > 0; });
  if (!drops) made.columns[3].where = in_data;
  auto probes = summary.probes;
  std::stable_sort(probes.begin(), probes.end(),
                   [](const auto& a, const auto& b) { return a.rate < b.rate; });
  for (const auto& probe : probes) {
    const auto& times = probe.times;
    made.rows.push_back(
        {{quantity{probe.rate, frames_per_second}, plain(probe.runs.size()), plain(times.frames),
          plain(probe.dropped), plain(times.late), quantity{times.late_share(), share},
          cell(times.p50, duration), cell(times.value, duration), cell(times.low, duration),
          cell(times.high, duration), plain(times.clustering), key_of(times.verdict), probe.pooled,
          plain(probe.held), plain(probe.growing), probe.cut_off, outcome_of(probe)}});
  }
  return made;
}

facts capacity_facts(const capacity_summary& summary) {
  using enum unit;
  const auto& of = summary.estimate;
  cell rate;
  if (of.rate) rate = estimate{{*of.rate, frames_per_second}, of.low, of.high};
  return {"capacity",
          "Capacity",
          {{"value", "highest rate", rate, ""},
           {"runs", "", plain(of.runs), ""},
           {"frames", "", plain(of.frames), ""},
           {"closed_loop", "closed loop", cell(summary.closed_loop, frames_per_second),
            "all frames due at once"}}};
}

facts alone_facts(const bound_check& alone) {
  using enum unit;
  return {"alone",
          "",
          {{"counted_frames", "", plain(alone.frames), ""},
           {"late", "", plain(alone.late), ""},
           {"p50", "", cell(alone.p50, duration), ""},
           {"percentile", "", cell(alone.value, duration), ""},
           {"low", "", cell(alone.low, duration), ""},
           {"high", "", cell(alone.high, duration), ""},
           {"verdict", "", key_of(alone.verdict), ""}},
          in_data};
}

}  // namespace

document describe(const capacity_record& record, const capacity_analysis& analysis) {
  const auto& first = record.closed_loop;
  const auto& how = record.how;
  const auto& summary = analysis.summary;
  document made{"capacity", first.pipeline, first.description, {}, {}, {}, "probes"};
  settings way = first.run;
  way.arrival = arrival::closed;  // the rate is what is looked for, not how the pipeline runs
  made.lines = {subject_of(first), fmt::format("{}, timing {}", way_of(way), to_word(way.timing)),
                parameters_of(first),
                fmt::format("highest rate with {} within {}; arrivals {}, {} per run of the search",
                            percentile_name(how.percentile),
                            to_text({static_cast<double>(how.bound), unit::duration}),
                            to_word(how.arrival), counted(how.frames, "frame"))};
  std::erase(made.lines, "");
  add_failures(made, first, " in the closed loop");
  for (const auto& run : record.runs) {
    if (run.record.failure) add_failures(made, run.record, "");
  }
  if (record.interrupted) {
    made.findings.push_back(finding{"capacity_interrupted", finding_severity::failure});
  }
  made.parts.push_back(capacity_facts(summary));
  made.parts.push_back(probe_table(summary, how));
  made.parts.push_back(alone_facts(summary.alone));
  made.findings.insert(made.findings.end(), analysis.findings.begin(), analysis.findings.end());
  if (summary.warning) made.findings.push_back(*summary.warning);
  made.parts.push_back(facts{"",
                             "",
                             {{"percentile", "", percentile_name(how.percentile), ""},
                              {"bound_ms", "", plain(static_cast<double>(how.bound) / 1e6), ""},
                              {"within", "", plain(how.within), ""},
                              {"interrupted", "", record.interrupted, ""}},
                             in_data});
  auto run = first.run;
  run.arrival = how.arrival;
  run.frames = how.frames;
  run.rate.reset();  // each run has one of its own
  add_origin(made, {run, first.parameters, first.device, first.environment, record.conditions,
                    first.source});
  return made;
}

}  // namespace graphline::report
