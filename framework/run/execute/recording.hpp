#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "framework/base/thread_number.hpp"
#include "framework/plan/plan.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// The sample columns of a batch of frames while it runs. All memory is taken at construction; a
/// frame writes to its own entries only, so that threads working on different stages or frames need
/// no lock.
class recording {
 public:
  /// `epoch` is the host time that stamps are counted from.
  /// `parts` are those of each stage.
  recording(const plan& p, const std::vector<std::vector<stage_part>>& parts,
            const device_properties& on, timing_method method, std::int64_t frames,
            nanoseconds epoch);

  timing_method method() const noexcept { return method_; }

  /// A frame without a time to be due at is due when it begins.
  void frame_begun(std::int64_t frame, std::optional<nanoseconds> due, nanoseconds at) noexcept {
    auto& f = frames_[static_cast<std::size_t>(frame)];
    f.due = due.value_or(at) - epoch_;
    f.begin = at - epoch_;
  }
  void frame_ended(std::int64_t frame, nanoseconds at) noexcept {
    frames_[static_cast<std::size_t>(frame)].end = at - epoch_;
  }
  /// The launch of a frame's graph.
  void frame_launched(std::int64_t frame, nanoseconds begin, nanoseconds end) noexcept {
    keep(launches_, frame, begin, end);
  }

  // From the thread that has launched or run the stage.

  void enqueued(std::size_t stage, std::int64_t frame, nanoseconds begin,
                nanoseconds end) noexcept {
    keep(stages_[stage].enqueued, frame, begin, end);
    note_thread(stage, frame);
  }
  void synced(std::size_t stage, std::int64_t frame, nanoseconds begin, nanoseconds end) noexcept {
    keep(stages_[stage].synced, frame, begin, end);
    note_thread(stage, frame);
  }
  void on_cpu(std::size_t stage, std::int64_t frame, nanoseconds begin, nanoseconds end) noexcept {
    keep(stages_[stage].cpu, frame, begin, end);
    note_thread(stage, frame);
  }

  /// `busy` where the device tells.
  void on_device(std::size_t stage, std::int64_t frame, nanoseconds begin, nanoseconds end,
                 std::optional<nanoseconds> busy) noexcept {
    keep(stages_[stage], frame, begin, end, busy);
  }

  void on_part(std::size_t stage, std::size_t part, std::int64_t frame, nanoseconds begin,
               nanoseconds end, std::optional<nanoseconds> busy) noexcept {
    keep(stages_[stage].parts[part], frame, begin, end, busy);
  }

  /// The next frame is complete, with all its stamps.
  void frame_complete() noexcept {
    std::atomic_ref(complete_).fetch_add(1, std::memory_order_release);
  }

  /// How many are; from any thread.
  std::int64_t complete() const noexcept {
    return std::atomic_ref(const_cast<std::int64_t&>(complete_)).load(std::memory_order_acquire);
  }

  /// Moves the samples of the first `completed` frames into a record.
  void hand_over(run_record& to, std::int64_t completed) &&;

 private:
  void keep(std::vector<stamp_pair>& column, std::int64_t frame, nanoseconds begin,
            nanoseconds end) noexcept {
    column[static_cast<std::size_t>(frame)] = {begin - epoch_, end - epoch_};
  }
  template <class Record>
  void keep(Record& of, std::int64_t frame, nanoseconds begin, nanoseconds end,
            std::optional<nanoseconds> busy) noexcept {
    keep(of.device, frame, begin, end);
    if (!of.busy.empty()) of.busy[static_cast<std::size_t>(frame)] = busy.value_or(end - begin);
  }
  void note_thread(std::size_t stage, std::int64_t frame) noexcept {
    stages_[stage].threads[static_cast<std::size_t>(frame)] = thread_number();
  }

  /// From numbers of threads in this process to indices into a list of those that had a part.
  void name_threads(run_record& to);

  timing_method method_;
  nanoseconds epoch_;
  std::int64_t complete_ = 0;
  std::uint32_t driver_ = thread_number();  ///< makes the recording and drives the frames
  std::vector<frame_record> frames_;
  std::vector<stamp_pair> launches_;
  std::vector<stage_record> stages_;
};

}  // namespace graphline
