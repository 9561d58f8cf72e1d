#include "tests/analysis/sample_rows.hpp"

#include <algorithm>

#include "tests/analysis/made_run.hpp"

namespace graphline::samples {

run_record recognizer(const std::vector<std::int32_t>& rows, timing_method timing) {
  made_run made(strategy::async, timing);
  made.cpu_stage("find")
      .device_stage("recognize", {{0, satisfied_by::cpu_return}})
      .cpu_stage("decode", {{0, satisfied_by::cpu_return}, {1, satisfied_by::completion}})
      .cpu_stage("notify", {{0, satisfied_by::cpu_return}, {2, satisfied_by::cpu_return}});
  auto& recognize = made.record.stages[1];
  recognize.capacity = made.record.stages[2].capacity = 4;
  for (const std::int64_t bucket : {1, 4}) {
    recognize.buckets.push_back({bucket, {bucket * 1'000'000, bucket * 20'000, bucket * 4'000}});
  }
  recognize.cost = recognize.buckets.back().cost;
  if (timing == timing_method::layers) {
    for (const std::size_t bucket : {0, 1}) {
      const auto& cost = recognize.buckets[bucket].cost;
      recognize.parts.push_back({"conv", "", {}, cost, {}, bucket});
      recognize.parts.push_back({"relu", "", {}, {0, cost.bytes_read, 0}, {}, bucket});
    }
  }
  nanoseconds begin = 0;
  for (const auto count : rows) {
    const bool runs = count > 0;
    const nanoseconds used = std::clamp(count, 0, 4);
    const auto launched = begin + 110'000;
    const auto worked = launched + 10'000;
    const auto length = (used > 1 ? 4 : 1) * 100'000 + used * 1'000;
    const auto decoded = runs ? worked + length + 20'000 : launched + 10'000;
    const auto notified = runs ? decoded + used * 10'000 : decoded + 10'000;
    const auto end = runs ? notified + 5'000 : notified;
    made.frame(begin, end + 5'000).ended_by(3);
    made.cpu(0, begin, begin + 100'000).cause(0, cause::frame_begun).cause(1, 0);
    made.launch(1, launched, runs ? worked : launched);
    if (timing != timing_method::host) {
      made.device(1, runs ? worked : launched, runs ? worked + length : launched);
    }
    made.seen(1, runs ? worked + length + 10'000 : launched);
    made.cpu(2, decoded, runs ? notified : decoded).cause(2, 1);
    made.cpu(3, notified, end).cause(3, 2);
    for (auto& part : recognize.parts) {
      const bool own = runs && part.bucket == (used > 1 ? 1 : 0);
      const auto middle = worked + length / 4 * 3;
      part.device.push_back(!own                  ? stamp_pair{launched, launched}
                            : part.name == "conv" ? stamp_pair{worked, middle}
                                                  : stamp_pair{middle, worked + length});
    }
    recognize.rows.push_back(count);
    made.record.stages[2].rows.push_back(count);
    made.record.stages[3].rows.push_back(runs ? 1 : skipped);
    begin += 2'000'000;
  }
  return std::move(made.record);
}

}  // namespace graphline::samples
