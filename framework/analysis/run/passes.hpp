#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "framework/analysis/stats/distribution.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// The passes of a run through its pipeline. A pass runs a batch of frames or, without
/// `batch_frames`, one frame. Columns of stages have one entry per pass.
class run_passes {
 public:
  /// @pre `record` outlives this object.
  explicit run_passes(const run_record& record);

  std::size_t size() const noexcept {
    return first_.empty() ? record_.frames.size() : record_.batches.size();
  }
  /// Returns the number of frames that a pass runs.
  std::size_t frames_in(std::size_t pass) const {
    return first_.empty() ? 1 : static_cast<std::size_t>(record_.batches[pass].frames);
  }
  std::size_t first_frame(std::size_t pass) const { return first_.empty() ? pass : first_[pass]; }

  /// Returns the stamps of a pass, which is due with its first frame.
  const frame_record& operator[](std::size_t pass) const {
    return record_.frames[first_frame(pass)];
  }

  /// Returns the pass that ran a frame.
  std::size_t of(std::size_t frame) const;

  /// Returns when a frame began to wait for others of its batch; its begin without `batch_frames`.
  nanoseconds joined(std::size_t frame) const;

 private:
  const run_record& record_;
  std::vector<std::size_t> first_;  ///< first frame by pass; empty without batches
};

/// Returns the time from due to `run_passes::joined` of each frame.
std::vector<nanoseconds> queue_wait_times(const run_record& record);

/// Returns the time from `run_passes::joined` to begin of each frame.
std::vector<nanoseconds> batch_wait_times(const run_record& record);

/// Batches with `low` to `high` frames.
struct batch_size {
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::size_t batches = 0;
  std::size_t frames = 0;             ///< in all these batches
  std::optional<distribution> times;  ///< from begin to end of a batch
};

struct batch_summary {
  std::size_t batches = 0;
  double mean = 0;                   ///< frames in a batch
  std::vector<batch_size> sizes;     ///< those that occurred, ascending; ranges above 16
  std::optional<distribution> wait;  ///< of frames, for others of their batch
};

/// Summarizes the batches of a run; empty without `batch_frames` or completed frames.
std::optional<batch_summary> batches_of(const run_record& record);

}  // namespace graphline
