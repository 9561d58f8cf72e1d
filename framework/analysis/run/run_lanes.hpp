#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "framework/record/run_record.hpp"

namespace graphline {

/// What carries out one thing at a time during a run: its streams and its host threads, by number.
class run_lanes {
 public:
  /// `record` must outlive this.
  explicit run_lanes(const run_record& record);

  /// Of a device stage's execution. All streams are one lane on a device that carries out one
  /// operation at a time.
  std::size_t of_stream(std::size_t stage) const { return streams_[stage]; }

  /// Of the thread that ran a CPU stage or launched a device stage. Nothing where the record does
  /// not say and the strategy has more than one.
  std::optional<std::size_t> of_thread(std::size_t stage, std::size_t frame) const;

  /// Of the thread that drives the frames.
  std::size_t of_main() const noexcept { return stream_count_; }

  /// When the thread of `lane` ended what it did last before `to`, for whatever frame, if that was
  /// after `from`. Logarithmic in the number of frames. With one frame in flight nothing.
  std::optional<nanoseconds> busy_until(std::size_t lane, nanoseconds from, nanoseconds to) const;

 private:
  void add(const std::vector<stamp_pair>& column, std::size_t stage);

  const run_record& record_;
  std::size_t stream_count_ = 0;
  std::vector<std::size_t> streams_;  ///< by stage
  /// What threads did, by begin. Of no use with one frame in flight, and empty then.
  std::vector<std::vector<stamp_pair>> threads_;
};

}  // namespace graphline
