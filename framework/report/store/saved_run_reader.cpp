#include <utility>

#include "framework/report/store/result_parts.hpp"
#include "framework/report/store/saved_readers.hpp"

namespace graphline {

namespace {

saved_stage stage_of(const json_part& from) {
  saved_stage result;
  result.name = from.at("name").text();
  // The time that stands for the stage comes first; it has a launch beside it, or only that.
  for (const auto what : {measure::device_time, measure::synchronized_time, measure::cpu_time,
                          measure::enqueue_time}) {
    const auto times = from.find(key_of(what));
    if (!times) continue;
    result.what = what;
    result.times = times_of(*times);
    break;
  }
  return result;
}

saved_output output_of(const json_part& from) {
  saved_output result;
  result.tensor = from.at("tensor").text();
  result.dtype = from.at("dtype").text();
  result.shape = from.at("shape").wholes<std::int64_t>();
  result.checksum = from.at("checksum").text();
  result.finite = from.at("finite").boolean();
  if (const auto values = from.find("values")) {
    for (const auto& value : values->items()) {
      result.values.push_back(value.json().is_null() ? std::nullopt
                                                     : std::optional(value.number()));
    }
  }
  return result;
}

/// Nothing where an end is beyond the frames, and in results of earlier versions.
std::optional<interval> p50_range_of(const json_part& end_to_end) {
  const auto intervals = end_to_end.find("intervals");
  const auto p50 = intervals ? intervals->find("p50") : std::nullopt;
  const auto low = p50 ? p50->find("low") : std::nullopt;
  const auto high = p50 ? p50->find("high") : std::nullopt;
  if (!low || !high) return std::nullopt;
  return interval{static_cast<double>(time_of(*low)), static_cast<double>(time_of(*high))};
}

}  // namespace

saved_run saved_run_of(const json_part& result) {
  saved_run run;
  run.origin = origin_of(result, "pipeline");
  run.origin.sources = sources_of_run(result.find("record"));
  run.end_to_end = times_of(result.at("end_to_end"));
  run.p50_range = p50_range_of(result.at("end_to_end"));
  if (const auto value = result.at("throughput").find("value")) run.throughput = value->number();
  const auto memory = result.at("memory");
  run.device_peak_bytes = memory.at("device_peak_bytes").number();
  run.pinned_peak_bytes = memory.at("pinned_peak_bytes").number();
  if (const auto deadline = result.find("deadline")) {
    run.missed_deadline = deadline->at("missed").whole<std::size_t>();
  }
  for (const auto& stage : result.at("stages").items()) run.stages.push_back(stage_of(stage));
  for (const auto& output : result.at("outputs").items()) run.outputs.push_back(output_of(output));
  if (const auto flag = result.find("interrupted")) run.interrupted = flag->boolean();
  if (const auto failure = result.find("failure")) run.failure = failure->text();
  return run;
}

}  // namespace graphline
