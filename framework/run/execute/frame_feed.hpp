#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/tensor_type.hpp"
#include "framework/base/words.hpp"
#include "framework/record/run_record.hpp"
#include "framework/spec/pipeline_spec.hpp"
#include "framework/stage/stage.hpp"

namespace graphline {

/// Frames that an application submits, for example camera images. A frame is due when it is
/// submitted, and its latency counts from then. The pipeline needs a stage of `source_kind`, which
/// outputs the frame's tensors, and `arrival: constant` with the expected rate. `queue` and
/// `when_full` apply to submitted frames. Any thread may submit and close.
class frame_feed {
 public:
  explicit frame_feed(std::vector<tensor_type> tensors);

  /// Creates a stage kind: a CPU stage that outputs each frame's tensors (zeros during warm-up).
  /// The kind and its stages refer to this feed.
  stage_kind source_kind(std::string name);

  /// Copies a frame into the queue and returns true. If the queue is full, `when_full` decides:
  /// `block` waits, `drop_newest` returns false, and `drop_oldest` drops the oldest waiting frame.
  /// Returns false if no run accepts frames: before the end of the warm-up, after `close`, after
  /// the run.
  /// @throws std::logic_error if the tensors' types differ from the feed's
  bool submit(std::initializer_list<const_tensor_view> frame);

  /// Ends the feed: the run completes the frames submitted so far, then ends.
  void close();

  // For session and executors.

  /// Accepts up to `run.frames` frames from now on.
  /// @throws input_error if the settings have no open load.
  void open(const settings& run);

  /// Waits up to `at_most` for a frame, begins the oldest waiting frame and returns its due time.
  enum class state { begun, waiting, over };
  struct next_frame {
    state is;
    nanoseconds due = 0;
  };
  next_frame begin_next(nanoseconds at_most);

  /// Stops accepting frames and returns the run's load, with times relative to `epoch`.
  /// @param completed Number of complete frames, in the order they began.
  load_record end(nanoseconds epoch, nanoseconds ended, std::int64_t completed);

 private:
  friend class feed_source;

  using frame_data = std::vector<std::vector<std::byte>>;
  struct waiting_frame {
    nanoseconds due;
    frame_data data;
  };

  /// Moves out the data of a begun frame and discards that of older ones, which were cut short;
  /// writes zeros if there is none.
  void take(std::int64_t frame, std::span<const tensor_view> into);

  std::vector<tensor_type> tensors_;
  std::mutex lock_;
  std::condition_variable changed_;

  // Guarded by `lock_`.
  bool open_ = false;
  bool closed_ = false;  ///< `close` was called
  std::int64_t left_ = 0;
  std::int64_t next_ = 0;    ///< number of the next frame, counted from the start of the run
  nanoseconds give_up_ = 0;  ///< longest time from a frame's due time to its begin
  std::size_t room_ = 0;
  queue_policy when_full_ = queue_policy::block;
  std::deque<waiting_frame> waiting_;
  std::vector<nanoseconds> begun_due_;  ///< due times of all frames begun
  /// Numbers and data of frames whose source stage has not run.
  std::deque<std::pair<std::int64_t, frame_data>> begun_;
  load_record load_;
};

}  // namespace graphline
