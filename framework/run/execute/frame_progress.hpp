#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "framework/plan/plan.hpp"

namespace graphline {

/// The last event that made a stage ready.
struct ready_cause {
  enum class kind : std::uint8_t {
    frame_begun,     ///< the frame began; the stage waits for no stage of it
    returned,        ///< an earlier CPU stage ran or device stage was issued
    completed,       ///< the host saw an earlier device stage complete
    previous_frame,  ///< the same stage returned in the previous frame
  };
  kind what = kind::frame_begun;
  std::uint32_t stage = 0;  ///< the stage that returned or completed
};

/// Tracks which stages of the frames in flight are ready. Callers pass in events and receive each
/// stage once per frame, when it becomes ready. Uses no clock, thread or device, and allocates at
/// construction only.
///
/// A stage is ready once every stage it waits for has returned or completed, depending on the
/// plan's edge. With several slots, the stage must also have returned in the previous frame, so
/// that it never overlaps itself.
///
/// A frame ends with its last stage, but not before the host has seen the completion of all device
/// stages that count in a window. Otherwise, the slot's next frame could begin before that.
///
/// Any thread may pass in an event. What happened before the event is visible to the thread that
/// receives the stage.
class frame_progress {
 public:
  frame_progress(const plan& p, std::size_t slots) : slots_(slots), stages_(p.stages.size()) {
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      const planned_stage& stage = p.stages[s];
      rule& of = stages_[s];
      // A stage without dependencies waits for the frame to begin.
      of.missing = static_cast<std::uint32_t>(std::max<std::size_t>(1, stage.waits.size()));
      if (slots_ > 1) ++of.missing;
      of.ends_at = !stage.followers.empty() ? end::never
                   : stage.on == side::cpu  ? end::at_return
                                            : end::at_completion;
      if (of.ends_at != end::never) ++ends_;
      if (stage.waits.empty()) sources_.push_back(static_cast<std::uint32_t>(s));
      for (const dependency& wait : stage.waits) {
        rule& earlier = stages_[wait.stage];
        auto& list =
            wait.how == satisfied_by::completion ? earlier.at_completion : earlier.at_return;
        list.push_back(static_cast<std::uint32_t>(s));
      }
    }
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      rule& of = stages_[s];
      const bool only_window_waits = p.stages[s].host_waits && of.at_completion.empty();
      if (of.ends_at != end::never || !only_window_waits) continue;
      of.ends_at = end::at_completion;
      ++ends_;
    }
    missing_ = std::make_unique<count[]>(slots_ * stages_.size());
    ends_left_ = std::make_unique<count[]>(slots_);
    reset();
  }

  void reset() noexcept {
    for (std::size_t slot = 0; slot < slots_; ++slot) {
      for (std::size_t s = 0; s < stages_.size(); ++s) {
        // The first frame has no previous frame.
        const std::uint32_t first = slots_ > 1 && slot == 0 ? 1 : 0;
        missing_[slot * stages_.size() + s].store(stages_[s].missing - first);
      }
      ends_left_[slot].store(ends_);
    }
  }

  // Each function calls `ready(slot, stage, cause)` for every stage that becomes ready, in planned
  // order within a slot.

  /// A frame begins in a free slot; frame N takes slot N modulo the number of slots. Frames that
  /// may begin at the same moment may do so in any order, since each stage keeps its own.
  template <class Ready>
  void begun(std::uint32_t slot, const Ready& ready) {
    for (const std::uint32_t s : sources_) release(slot, s, {}, ready);
  }

  /// The host ran a CPU stage or issued a device stage. Returns true if this ends the frame.
  template <class Ready>
  [[nodiscard]] bool returned(std::uint32_t slot, std::uint32_t stage, const Ready& ready) {
    const rule& of = stages_[stage];
    for (const std::uint32_t s : of.at_return) {
      release(slot, s, {ready_cause::kind::returned, stage}, ready);
    }
    if (slots_ > 1) {
      const std::uint32_t next = slot + 1 == slots_ ? 0 : slot + 1;
      release(next, stage, {ready_cause::kind::previous_frame, stage}, ready);
    }
    return of.ends_at == end::at_return && has_ended(slot);
  }

  /// The host saw a device stage complete. Returns true if this ends the frame.
  template <class Ready>
  [[nodiscard]] bool completed(std::uint32_t slot, std::uint32_t stage, const Ready& ready) {
    const rule& of = stages_[stage];
    for (const std::uint32_t s : of.at_completion) {
      release(slot, s, {ready_cause::kind::completed, stage}, ready);
    }
    return of.ends_at == end::at_completion && has_ended(slot);
  }

 private:
  using count = std::atomic<std::uint32_t>;
  enum class end : std::uint8_t { never, at_return, at_completion };

  struct rule {
    std::uint32_t missing = 0;  ///< dependencies of the stage in a frame
    end ends_at = end::never;   ///< event after which the stage no longer delays the frame's end
    std::vector<std::uint32_t> at_return;  ///< stages that wait for this stage's return, ascending
    std::vector<std::uint32_t> at_completion;  ///< stages that wait for this stage's completion
  };

  /// Counts one dependency as met. After the last dependency, resets the counter for the slot's
  /// next frame, which uses it after this stage has returned.
  template <class Ready>
  void release(std::uint32_t slot, std::uint32_t stage, ready_cause cause, const Ready& ready) {
    const std::uint32_t all = stages_[stage].missing;
    if (all > 1) {
      count& missing = missing_[slot * stages_.size() + stage];
      if (missing.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
      missing.store(all, std::memory_order_relaxed);
    }
    ready(slot, stage, cause);
  }

  bool has_ended(std::uint32_t slot) noexcept {
    if (ends_left_[slot].fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
    ends_left_[slot].store(ends_, std::memory_order_relaxed);
    return true;
  }

  std::size_t slots_;
  std::vector<rule> stages_;
  std::vector<std::uint32_t> sources_;  ///< stages that wait for no stage
  std::uint32_t ends_ = 0;              ///< stages that nothing follows
  std::unique_ptr<count[]> missing_;    ///< by slot, then stage
  std::unique_ptr<count[]> ends_left_;  ///< by slot
};

}  // namespace graphline
