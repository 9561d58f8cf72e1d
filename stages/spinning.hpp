#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "framework/stage/stage.hpp"

namespace graphline {

void spin_wall_time(nanoseconds time) noexcept;

/// Keeps the calling thread busy until it has used the given CPU time.
void spin_cpu_time(nanoseconds time) noexcept;

std::vector<parameter> spin_duration_parameters();

/// The parameter `per_row` of the kinds that spin.
parameter per_row_parameter();

/// Reports an error if `per_row` is given and the first input has no rows.
void check_per_row(const arguments& given, std::span<const tensor_type> inputs, diagnostics& out);

/// Adds `per_row` for each of `rows`; a century at most.
nanoseconds add_rows(nanoseconds time, nanoseconds per_row, std::int64_t rows) noexcept;

/// Returns the time of a `device.spin` stage.
nanoseconds device_spin_time(const stage_config& config);

/// A stage's duration in each frame: fixed, drawn, or from a file. It depends only on the stage's
/// seed and the frame, so it is the same in every configuration.
class spin_durations {
 public:
  /// Reads `spin_duration_parameters` and reports mistakes to `out`; after an error the result is
  /// ignored.
  static spin_durations read(const arguments& given, diagnostics& out);

  nanoseconds of_frame(std::int64_t frame, std::uint64_t seed) const noexcept;

  bool all_zero() const noexcept {
    return listed_.empty() && distribution_ == distribution::constant && mean_ == 0;
  }

 private:
  enum class distribution { constant, uniform, normal, exponential, lognormal };

  distribution distribution_ = distribution::constant;
  double mean_ = 0;
  double stddev_ = 0;
  std::vector<nanoseconds> listed_;  ///< used in turn and repeated; empty without a file
};

}  // namespace graphline
