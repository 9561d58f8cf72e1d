#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace graphline {

/// The name of a stage in messages. Labels live until the program ends, so that other threads and
/// signal handlers can read them.
struct stage_label {
  std::string stage;
  std::string kind;
  std::string plugin;  ///< file of the plug-in; empty for a built-in kind
};

/// Returns the label with these texts. Equal texts give the same pointer.
const stage_label* stage_label_of(const std::string& stage, const std::string& kind,
                                  const std::string& plugin);

/// Returns "stage 'track' (my.track of plug-in /opt/track.so)".
std::string to_string(const stage_label& label);

/// The stage and frame that a thread works on. `getting_ready` means that it prepares the stage.
struct stage_point {
  static constexpr std::int64_t getting_ready = -1;

  const stage_label* stage = nullptr;  ///< null if the thread works on no stage
  std::int64_t frame = getting_ready;

  bool operator==(const stage_point&) const = default;
};

/// Returns "stage 'track' (my.track of plug-in /opt/track.so), frame 12".
/// @pre `at.stage` is not null
std::string to_string(const stage_point& at);

/// The `stage_point` of one thread, written by that thread and readable by all threads.
class thread_activity {
 public:
  static thread_activity& own() noexcept { return own_ != nullptr ? *own_ : attach(); }

  /// Calls `take` for each thread that works on a stage. Async-signal-safe if `take` is.
  template <class Take>
  static void each(const Take& take) {
    for (const thread_activity* t = first_.load(std::memory_order_acquire); t != nullptr;
         t = t->next_) {
      if (const stage_point at = t->at(); at.stage != nullptr) take(at);
    }
  }

  stage_point at() const noexcept {
    return {stage_.load(std::memory_order_relaxed), frame_.load(std::memory_order_relaxed)};
  }
  void move_to(stage_point to) noexcept {
    frame_.store(to.frame, std::memory_order_relaxed);
    stage_.store(to.stage, std::memory_order_relaxed);
  }
  void leave() noexcept { stage_.store(nullptr, std::memory_order_relaxed); }

 private:
  /// Gives the calling thread an activity and an alternate stack for signal handlers.
  static thread_activity& attach() noexcept;
  static void detach(void* activity) noexcept;
  void prepare_stack() noexcept;

  static inline std::atomic<thread_activity*> first_{nullptr};
  static inline constinit thread_local thread_activity* own_ = nullptr;

  std::atomic<const stage_label*> stage_{nullptr};
  std::atomic<std::int64_t> frame_{0};
  std::atomic<bool> taken_{true};
  std::unique_ptr<std::byte[]> stack_;  ///< stack of signal handlers
  thread_activity* next_ = nullptr;     ///< next in the list; activities are reused and never freed
};

/// Sets the calling thread's `stage_point` during this object's lifetime.
class stage_scope {
 public:
  explicit stage_scope(stage_point at) noexcept : own_(thread_activity::own()), before_(own_.at()) {
    own_.move_to(at);
  }
  ~stage_scope() {
    if (before_.stage == nullptr) {
      own_.leave();
    } else {
      own_.move_to(before_);
    }
  }
  stage_scope(const stage_scope&) = delete;
  stage_scope& operator=(const stage_scope&) = delete;

 private:
  thread_activity& own_;
  stage_point before_;
};

}  // namespace graphline
