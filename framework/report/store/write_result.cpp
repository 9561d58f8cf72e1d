#include "framework/report/store/write_result.hpp"

#include <algorithm>

#include "framework/report/json/compact_json.hpp"
#include "framework/report/json/record_json.hpp"
#include "framework/report/render/render.hpp"

namespace graphline::report {

namespace {

std::uint64_t number(std::int64_t count) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(count, 0));
}

constexpr std::uint64_t stamp = sizeof "123456789012,";

}  // namespace

template <class Record>
void write_result(text_sink& to, const document& says, const Record& record) {
  const last_entry raw{"record", [&record](text_sink& sink) {
                         compact_json text(sink);
                         write_record(text, record);
                         text.finish();
                       }};
  write_json(to, says, &raw);
}
template void write_result(text_sink&, const document&, const run_record&);
template void write_result(text_sink&, const document&, const roofline_record&);
template void write_result(text_sink&, const document&, const capacity_record&);
template void write_result(text_sink&, const document&, const experiment_record&);

std::uint64_t expected_run_bytes(std::int64_t frames, std::size_t stages) {
  constexpr std::uint64_t around = 16384;       // device, settings, environment, outputs
  constexpr std::uint64_t around_stage = 1024;  // names and percentiles
  constexpr std::uint64_t sample = sizeof "1234.123456,";
  const auto samples = number(frames);
  // A frame has its time and, on a schedule, its wait; a device stage its time and the time to
  // enqueue it. The record has when each of these began and ended, and the stage's thread.
  return around + stages * around_stage + samples * sample * (2 + 2 * stages) +
         samples * (3 * stamp + stages * (4 * stamp + sizeof "0,"));
}

std::uint64_t expected_roofline_bytes(std::int64_t frames, std::size_t stages) {
  constexpr std::uint64_t around = 32768;       // device, settings, environment, of both runs
  constexpr std::uint64_t around_stage = 8192;  // its figures and those of its parts
  return around + stages * around_stage + 2 * number(frames) * (3 + 4 * stages) * stamp;
}

std::uint64_t expected_experiment_bytes(const experiment_plan& planned) {
  constexpr std::uint64_t around_trial = 16384;  // settings, device, environment, outputs, graphs
  std::uint64_t block = 0;
  for (const auto& configuration : planned.configurations) {
    for (const auto& member : configuration.members) {
      // A frame has three stamps; a device stage two for its time and two for being enqueued.
      const auto stamps = 3 + 4 * std::uint64_t{member.stages.size()};
      block += around_trial + number(member.run.frames) * stamps * stamp;
    }
  }
  // The figures of a configuration are about as long as what surrounds the stamps of a trial.
  return around_trial * planned.configurations.size() + number(planned.how.trials) * block;
}

}  // namespace graphline::report
