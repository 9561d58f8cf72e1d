#include "framework/report/json/capacity_json.hpp"

#include "framework/analysis/capacity.hpp"
#include "framework/analysis/capacity_findings.hpp"
#include "framework/analysis/summary.hpp"
#include "framework/report/json/common_json.hpp"
#include "framework/report/json/json_text.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

json time_json(const std::optional<nanoseconds>& ns) {
  return ns ? json(milliseconds(*ns)) : json();
}

std::string_view verdict_key(bound_verdict verdict) {
  switch (verdict) {
    case bound_verdict::holds:
      return "holds";
    case bound_verdict::fails:
      return "fails";
    case bound_verdict::open:
      return "open";
  }
  return "?";
}

/// A sample against the bound; `verdict` may know more than the sample does.
json check_json(const bound_check& times, bound_verdict verdict) {
  return {{"counted_frames", times.frames},
          {"late", times.late},
          {"unit", "ms"},
          {"p50", time_json(times.p50)},
          {"percentile", time_json(times.value)},
          {"interval", {time_json(times.low), time_json(times.high)}},
          {"clustering", times.clustering},
          {"verdict", verdict_key(verdict)}};
}

json samples_json(const run_record& record) {
  auto times = end_to_end_times(record);
  return distribution_json(distribution::of(times), times);
}

json run_json(const capacity_run& run) {
  const auto& record = run.record;
  return {{"frames_due", record.run.frames},
          {"dropped", record.load.dropped.size()},
          {"overdue", run.overdue},
          {"cut_off", run.cut_off},
          {"end_to_end", samples_json(record)},
          {"interrupted", record.interrupted && !run.cut_off},
          {"failure", record.failure ? json(*record.failure) : json()}};
}

json probe_json(const probe_summary& probe) {
  json result = {{"rate", probe.rate}, {"confirming", probe.confirming}};
  result.update(check_json(probe.times, probe.verdict));
  result["held"] = probe.held ? json(*probe.held) : json();
  result["dropped"] = probe.dropped;
  result["cut_off"] = probe.cut_off;
  result["queue_grew_in"] = probe.growing;
  result["runs"] = json::array();
  return result;
}

json probes_json(const capacity_summary& summary, const std::vector<capacity_run>& runs) {
  json result = json::array();
  std::size_t next = 0;
  for (const auto& probe : summary.probes) {
    result.push_back(probe_json(probe));
    auto& list = result.back()["runs"];
    for (std::size_t i = 0; i < probe.runs; ++i) list.push_back(run_json(runs[next++]));
  }
  return result;
}

json rate_of(const capacity_summary& summary, const std::optional<std::size_t>& probe) {
  return probe ? json(summary.probes[*probe].rate) : json();
}

}  // namespace

std::string capacity_json(const capacity_record& record) {
  const auto summary = summarize(record);
  const auto& first = record.closed_loop;
  json result;
  result["schema"] = "graphline.capacity/1";
  result["pipeline"] = first.pipeline;
  result["device"] = device_json(first.device);
  result["settings"] = settings_json(first);
  result["settings"].erase("rate");  // that of the closed loop, which nobody set
  result["settings"]["arrival"] = to_word(record.how.arrival);
  result["settings"]["frames"] = record.how.frames;  // not those of the closed loop
  result["environment"] = texts_json(first.environment);
  result["percentile"] = percentile_name(record.how.percentile);
  result["bound_ms"] = milliseconds(record.how.bound);
  result["within"] = record.how.within;
  result["capacity"] = {{"unit", "frame/s"},
                        {"value", rate_of(summary, summary.best)},
                        {"confirmed", summary.confirmed},
                        {"lowest_that_failed", rate_of(summary, summary.worse)}};
  result["closed_loop"] = {{"unit", "frame/s"},
                           {"value", summary.closed_loop ? json(*summary.closed_loop) : json()},
                           {"end_to_end", samples_json(first)},
                           {"failure", first.failure ? json(*first.failure) : json()}};
  result["alone"] = check_json(summary.alone, summary.alone.verdict);
  result["probes"] = probes_json(summary, record.runs);
  result["findings"] = findings_of(summary, record.how);
  result["interrupted"] = record.interrupted;
  return json_text(result);
}

}  // namespace graphline
