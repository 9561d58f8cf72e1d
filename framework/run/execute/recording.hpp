#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "framework/base/thread_number.hpp"
#include "framework/device/device_group.hpp"
#include "framework/plan/plan.hpp"
#include "framework/record/run_record.hpp"
#include "framework/run/execute/frame_schedule.hpp"

namespace graphline {

/// Parts by stage, then bucket. CPU stages have no buckets, device stages without `rows` one.
using stage_parts = std::vector<std::vector<std::vector<stage_part>>>;

/// Sample columns of a running phase. Reserves addresses at construction and commits memory as
/// frames begin. Threads that record different stages or frames write different entries and need no
/// lock.
class recording {
 public:
  /// @param epoch Host time to which stamps are relative.
  recording(const plan& p, const stage_parts& parts, const device_group& on, timing_method method,
            std::int64_t frames, nanoseconds epoch);

  /// Copies the current state while other threads record.
  recording(const recording& other);

  timing_method method() const noexcept { return method_; }

  /// Returns true if the run records `caused`, `seen` and `ended_by`.
  bool keeps_causes() const noexcept { return keeps_causes_; }

  /// Lets the host issue device stages only when the device is idle, so that the times between
  /// their events do not include waits for each other.
  void keep_apart() noexcept { apart_ = true; }
  bool apart() const noexcept { return apart_; }

  /// Returns true if passes may be cut short, this long after their frames are due.
  bool cuts() const noexcept { return cut_after_ > 0; }
  nanoseconds cut_after() const noexcept { return cut_after_; }

  /// Records that a stage of the pass did not start in time. Any thread may call this.
  void cut_short(std::int64_t pass) noexcept {
    std::atomic_ref(cut_[static_cast<std::size_t>(pass)]).store(1, std::memory_order_relaxed);
  }
  /// @pre The pass is complete.
  bool was_cut_short(std::int64_t pass) const noexcept {
    return cuts() && cut_[static_cast<std::size_t>(pass)] != 0;
  }

  /// Provides memory up to this frame; call before it begins, on any thread.
  /// @throws run_error with a remedy if memory runs out; the samples so far can still be reported
  void make_room(std::int64_t frame) {
    if (static_cast<std::size_t>(frame) >= room_.load(std::memory_order_acquire)) grow(frame);
  }

  /// Frames without due times are due when they begin.
  /// @param first Index of the first frame of the pass.
  void pass_begun(std::int64_t pass, std::int64_t first, std::int64_t count,
                  const begun_frames& begun, nanoseconds at) noexcept {
    for (std::int64_t i = 0; i < count; ++i) {
      auto& f = frames_[static_cast<std::size_t>(first + i)];
      f.due = (begun.due.empty() ? at : begun.due[static_cast<std::size_t>(i)]) - epoch_;
      f.begin = at - epoch_;
    }
    if (batches_.empty()) return;
    batches_[static_cast<std::size_t>(pass)] = {static_cast<std::int32_t>(count),
                                                (begun.due.empty() ? at : begun.ready) - epoch_};
  }
  void pass_ended(std::int64_t first, std::int64_t count, nanoseconds at) noexcept {
    for (std::int64_t i = 0; i < count; ++i) {
      frames_[static_cast<std::size_t>(first + i)].end = at - epoch_;
    }
  }
  void frame_launched(std::int64_t frame, nanoseconds begin, nanoseconds end) noexcept {
    keep(launches_, frame, begin, end);
  }

  // @pre `keeps_causes()`

  /// @param what Stage index or a value of `cause`.
  void caused(std::size_t stage, std::int64_t frame, std::int32_t what) noexcept {
    stages_[stage].causes[static_cast<std::size_t>(frame)] = what;
  }
  /// Records the time at which the host observed the completion of a stage.
  void seen(std::size_t stage, std::int64_t frame, nanoseconds at) noexcept {
    stages_[stage].seen[static_cast<std::size_t>(frame)] = at - epoch_;
  }
  /// Records that the policy held the stage back or preferred it to another, which had been ready
  /// for longer or is of an older frame.
  /// @param to Index of the other stage plus 1, or a value of `choice`.
  void preferred(std::size_t stage, std::int64_t frame, std::int32_t to) noexcept {
    if (keeps_choices_) stages_[stage].preferred[static_cast<std::size_t>(frame)] = to;
  }
  void ended_by(std::int64_t frame, std::size_t stage) noexcept {
    ended_by_[static_cast<std::size_t>(frame)] = static_cast<std::uint32_t>(stage);
  }

  // Call on the thread that launched or ran the stage, or pass that thread's number.

  void enqueued(std::size_t stage, std::int64_t frame, nanoseconds begin, nanoseconds end,
                std::uint32_t thread) noexcept {
    keep(stages_[stage].enqueued, frame, begin, end);
    note_thread(stage, frame, thread);
  }
  void synced(std::size_t stage, std::int64_t frame, nanoseconds begin, nanoseconds end,
              std::uint32_t thread) noexcept {
    keep(stages_[stage].synced, frame, begin, end);
    note_thread(stage, frame, thread);
  }
  void on_cpu(std::size_t stage, std::int64_t frame, nanoseconds begin, nanoseconds end,
              std::uint32_t thread = thread_number()) noexcept {
    keep(stages_[stage].cpu, frame, begin, end);
    note_thread(stage, frame, thread);
  }

  void on_device(std::size_t stage, std::int64_t frame, nanoseconds begin, nanoseconds end,
                 std::optional<nanoseconds> busy) noexcept {
    keep(stages_[stage], frame, begin, end, busy);
  }

  /// @param part Index among the parts of the bucket.
  void on_part(std::size_t stage, std::size_t bucket, std::size_t part, std::int64_t frame,
               nanoseconds begin, nanoseconds end, std::optional<nanoseconds> busy) noexcept {
    keep(stages_[stage].parts[first_part_[stage][bucket] + part], frame, begin, end, busy);
  }

  /// @param rows As in `stage_record::rows`.
  void decided(std::size_t stage, std::int64_t frame, std::int32_t rows) noexcept {
    stages_[stage].rows[static_cast<std::size_t>(frame)] = rows;
  }

  /// Fills the columns of the host for a stage that does not run.
  void did_not_run(std::size_t stage, std::int64_t frame, nanoseconds at,
                   std::uint32_t thread) noexcept {
    stage_record& of = stages_[stage];
    for (auto* column : {&of.enqueued, &of.synced, &of.cpu}) {
      if (!column->empty()) keep(*column, frame, at, at);
    }
    if (!of.threads.empty()) note_thread(stage, frame, thread);
  }

  /// Counts a pass after all its stamps are recorded; call on any thread.
  void pass_complete(std::int64_t frames) noexcept {
    if (!batches_.empty()) frames_complete_.fetch_add(frames, std::memory_order_relaxed);
    complete_.fetch_add(1, std::memory_order_release);
  }

  /// Sets the number of complete passes; for executors in which one thread observes all ends.
  void passes_complete(std::int64_t so_far) noexcept {
    complete_.store(so_far, std::memory_order_release);
  }

  /// Returns the number of complete passes; call on any thread.
  std::int64_t complete() const noexcept { return complete_.load(std::memory_order_acquire); }

  /// Returns the number of frames in the passes of `pass_complete`.
  std::int64_t frames_complete() const noexcept {
    return batches_.empty() ? complete() : frames_complete_.load(std::memory_order_relaxed);
  }

  /// Moves the samples of the first `completed` passes into a record. Adds the frames of those that
  /// were cut short to the dropped frames of `to.load` instead.
  void move_into(run_record& to, std::int64_t completed) &&;

 private:
  recording(const recording& other, const std::lock_guard<std::mutex>& not_growing);

  /// Calls `f` with each recorded column; recorded columns are never empty.
  template <class Function>
  void each_column(Function&& f) {
    const auto visit = [&f](auto& column) {
      if (!column.empty()) f(column);
    };
    visit(frames_);
    visit(batches_);
    visit(launches_);
    visit(ended_by_);
    visit(cut_);
    for (auto& stage : stages_) {
      for (auto* column : {&stage.enqueued, &stage.device, &stage.synced, &stage.cpu}) {
        visit(*column);
      }
      visit(stage.busy);
      visit(stage.rows);
      visit(stage.threads);
      visit(stage.causes);
      visit(stage.preferred);
      visit(stage.seen);
      for (auto& part : stage.parts) {
        visit(part.device);
        visit(part.busy);
      }
    }
  }

  void reserve(std::size_t frames);
  void drop_cut_passes(run_record& to);
  bool try_reserving();
  void grow(std::int64_t frame);

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
  void note_thread(std::size_t stage, std::int64_t frame, std::uint32_t thread) noexcept {
    stages_[stage].threads[static_cast<std::size_t>(frame)] = thread;
  }

  /// Replaces thread numbers by indices into the record's thread list.
  void name_threads(run_record& to);

  timing_method method_;
  bool keeps_causes_ = false;
  bool keeps_choices_ = false;  ///< whether a policy chooses
  nanoseconds cut_after_ = 0;   ///< `late: skip_rest`: the deadline; 0: no pass is cut short
  bool apart_ = false;
  nanoseconds epoch_;
  std::atomic<std::int64_t> complete_ = 0;
  std::atomic<std::int64_t> frames_complete_ = 0;  ///< with `batch_frames`
  std::uint32_t driver_ = thread_number();         ///< thread that drives the frames
  std::vector<frame_record> frames_;
  std::vector<batch_record> batches_;  ///< by pass; empty without `batch_frames`
  std::vector<stamp_pair> launches_;
  std::vector<std::uint32_t> ended_by_;
  std::vector<std::uint8_t> cut_;  ///< by pass: 1 if it was cut short; empty if none can be
  std::vector<stage_record> stages_;
  std::vector<std::vector<std::size_t>> first_part_;  ///< by stage, then bucket
  std::size_t bytes_of_frame_ = 0;
  std::size_t known_to_fit_ = 0;       ///< record size for which memory was found sufficient
  std::size_t capacity_ = 0;           ///< frames with reserved address space
  std::atomic<std::size_t> room_ = 0;  ///< frames with memory
  mutable std::mutex growing_;
};

}  // namespace graphline
