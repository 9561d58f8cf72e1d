#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/run/attribution.hpp"
#include "framework/record/run_record.hpp"

namespace graphline::samples {

/// Builds a record stamp by stamp: stages first, then frames, each followed by its stages' stamps.
/// Times are in ns since the run's epoch.
class made_run {
 public:
  explicit made_run(strategy how, timing_method timing = timing_method::event,
                    const char* backend = "cuda");

  made_run& cpu_stage(const char* name, std::vector<wait_record> waits = {});
  made_run& device_stage(const char* name, std::vector<wait_record> waits = {},
                         const char* stream = "main", bool copy = false);

  /// Begins a frame; later stamps belong to it.
  made_run& frame(nanoseconds begin, nanoseconds end, std::optional<nanoseconds> due = {});

  made_run& cpu(std::size_t stage, nanoseconds begin, nanoseconds end, std::uint32_t thread = 0);
  made_run& launch(std::size_t stage, nanoseconds begin, nanoseconds end, std::uint32_t thread = 0);
  made_run& synced(std::size_t stage, nanoseconds begin, nanoseconds end, std::uint32_t thread = 0);
  made_run& device(std::size_t stage, nanoseconds begin, nanoseconds end);
  made_run& busy(std::size_t stage, nanoseconds time);  ///< for the last `device` stamps
  made_run& cause(std::size_t stage, std::int32_t what);
  made_run& seen(std::size_t stage, nanoseconds at);
  made_run& ended_by(std::size_t stage);
  made_run& frame_launch(nanoseconds begin, nanoseconds end);

  run_record record;
};

/// Formats the pieces of a frame in order of time: "queue_wait 0-5, cpu noise 5-15", and appends
/// "residual -3" if the residual is not 0.
std::string path_of(const run_record& record, std::size_t frame);
std::string path_of(const made_run& made, std::size_t frame = 0);

/// Returns the sum of all piece lengths and the residual.
nanoseconds sum_of(const frame_attribution& path);

}  // namespace graphline::samples
