#include "framework/report/json/capacity_json.hpp"

#include "framework/analysis/experiment/capacity.hpp"
#include "framework/analysis/experiment/capacity_findings.hpp"
#include "framework/analysis/run/disturbance.hpp"
#include "framework/analysis/run/summary.hpp"
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

json check_json(const bound_check& times) {
  return {{"counted_frames", times.frames},
          {"late", times.late},
          {"unit", "ms"},
          {"p50", time_json(times.p50)},
          {"percentile", time_json(times.value)},
          {"interval", {time_json(times.low), time_json(times.high)}},
          {"clustering", times.clustering},
          {"verdict", verdict_key(times.verdict)}};
}

json samples_json(const run_record& record) {
  auto times = end_to_end_times(record);
  return distribution_json(distribution::of(times), times);
}

json run_json(const capacity_run& run, bool disturbed) {
  const auto& record = run.record;
  return {{"frames_due", record.run.frames},
          {"dropped", record.load.dropped.size()},
          {"overdue", run.overdue},
          {"cut_off", run.cut_off},
          {"disturbed", disturbed},
          {"end_to_end", samples_json(record)},
          {"interrupted", record.interrupted && !run.cut_off},
          {"failure", record.failure ? json(*record.failure) : json()}};
}

json probe_json(const probe_summary& probe, const capacity_record& record,
                const capacity_estimate& found) {
  json result = {{"rate", probe.rate}, {"pooled", probe.pooled}};
  result.update(check_json(probe.times));
  result["held_in"] = probe.held;
  result["queue_grew_in"] = probe.growing;
  result["dropped"] = probe.dropped;
  result["cut_off"] = probe.cut_off;
  result["runs"] = json::array();
  for (const auto i : probe.runs) {
    result["runs"].push_back(run_json(record.runs[i], found.disturbed[i]));
  }
  return result;
}

json rate_json(const std::optional<double>& rate) {
  return rate ? json(*rate) : json();
}

}  // namespace

std::string capacity_json(const capacity_record& record) {
  const auto summary = summarize(record);
  const auto& first = record.closed_loop;
  auto result = json::object();
  result["schema"] = "graphline.capacity/1";
  result["pipeline"] = first.pipeline;
  result["device"] = device_json(first.device);
  result["settings"] = settings_json(first);
  result["settings"].erase("rate");  // that of the closed loop, which nobody set
  result["settings"]["arrival"] = to_word(record.how.arrival);
  result["settings"]["frames"] = record.how.frames;  // not those of the closed loop
  result["environment"] = texts_json(first.environment);
  if (record.conditions) result["conditions"] = texts_json(facts_of(*record.conditions));
  result["percentile"] = percentile_name(record.how.percentile);
  result["bound_ms"] = milliseconds(record.how.bound);
  result["within"] = record.how.within;
  const auto& found = summary.estimate;
  result["capacity"] = {{"unit", "frame/s"},
                        {"value", rate_json(found.rate)},
                        {"interval", {rate_json(found.low), rate_json(found.high)}},
                        {"runs", found.runs},
                        {"frames", found.frames}};
  result["closed_loop"] = {{"unit", "frame/s"},
                           {"value", rate_json(summary.closed_loop)},
                           {"end_to_end", samples_json(first)},
                           {"failure", first.failure ? json(*first.failure) : json()}};
  result["alone"] = check_json(summary.alone);
  result["probes"] = json::array();
  for (const auto& probe : summary.probes) {
    result["probes"].push_back(probe_json(probe, record, found));
  }
  result["warnings"] = summary.warnings;
  result["findings"] = findings_of(summary, record.how);
  result["interrupted"] = record.interrupted;
  return json_text(result);
}

}  // namespace graphline
