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

/// Frames that an application submits to a run, such as a camera's: each is due when it is
/// submitted, and latencies count from there. The pipeline has a stage of `source_kind`, which
/// writes the frame's tensors, and `arrival: constant`, with the rate that is expected; `queue` and
/// `when_full` hold as they do for frames on a schedule. Any thread may submit and close.
class frame_feed {
 public:
  /// `tensors`: what each frame consists of.
  explicit frame_feed(std::vector<tensor_type> tensors);

  /// A CPU stage that writes the tensors of each frame, zeros in warm-up frames. The kind and its
  /// stages refer to this feed.
  stage_kind source_kind(std::string name);

  /// Copies a frame, whose tensors have the types of the feed; `std::logic_error` otherwise. False
  /// where no run takes frames: before the warm-up is over, after `close`, and after the run.
  /// While the queue is full, it waits under `when_full: block`; under `drop_newest` the answer is
  /// false; under `drop_oldest` another frame is dropped.
  bool submit(std::initializer_list<const_tensor_view> frame);

  /// No more frames: the run ends with those submitted.
  void close();

  // For the session and its executors.

  /// Takes frames from now on, at most as many as the settings say. Throws `input_error` where
  /// these have no open load.
  void open(const settings& run);

  /// Begins the oldest frame, once there is one, and answers when it was due.
  enum class standing { begun, none_yet, over };
  struct next_frame {
    standing is;
    nanoseconds due = 0;
  };
  next_frame begin_next(nanoseconds at_most);

  /// Takes no more frames from the moment `ended` on. What became of those of this run, the first
  /// `completed` of which are done, with times counted from `epoch`.
  load_record end(nanoseconds epoch, nanoseconds ended, std::int64_t completed);

 private:
  friend class feed_source;

  using frame_data = std::vector<std::vector<std::byte>>;
  struct waiting_frame {
    nanoseconds due;
    frame_data data;
  };

  /// Copies the data of the oldest frame that has begun and was not taken yet.
  void take(std::span<const tensor_view> into);

  std::vector<tensor_type> tensors_;
  std::mutex lock_;
  std::condition_variable changed_;

  // Under the lock.
  bool open_ = false;
  bool closed_ = false;  ///< by the application
  std::int64_t left_ = 0;
  std::size_t room_ = 0;
  queue_policy when_full_ = queue_policy::block;
  std::deque<waiting_frame> waiting_;
  std::vector<nanoseconds> begun_due_;  ///< of all frames begun
  std::deque<frame_data> begun_;        ///< those whose source stage has not run yet
  load_record load_;
};

}  // namespace graphline
