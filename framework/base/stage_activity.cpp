#include "framework/base/stage_activity.hpp"

#include <signal.h>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <tuple>
#include <utility>

namespace graphline {
namespace {

constexpr std::size_t alternate_stack_bytes = 64 * 1024;

}  // namespace

const stage_label* stage_label_of(const std::string& stage, const std::string& kind,
                                  const std::string& plugin) {
  // Never destroyed: threads may outlive static objects.
  static auto* const lock = new std::mutex;
  static auto* const known = new std::map<std::tuple<std::string, std::string, std::string>,
                                          std::unique_ptr<const stage_label>>;
  const std::lock_guard locked(*lock);
  auto& label = (*known)[{stage, kind, plugin}];
  if (label == nullptr) label = std::make_unique<stage_label>(stage, kind, plugin);
  return label.get();
}

std::string to_string(const stage_label& label) {
  const std::string origin = label.plugin.empty() ? "" : " of plug-in " + label.plugin;
  return "stage '" + label.stage + "' (" + label.kind + origin + ")";
}

/// What a thread holds of it, given back when the thread ends. A handler of a stack that is full
/// needs another stack.
struct attached_thread {
  attached_thread() noexcept {
    prepare_stack();
    activity = thread_activity::first_.load();
    while (activity != nullptr && activity->taken_.exchange(true)) activity = activity->next_;
    if (activity != nullptr) return;
    activity = new (std::nothrow) thread_activity;
    if (activity == nullptr) return;
    activity->next_ = thread_activity::first_.load();
    while (!thread_activity::first_.compare_exchange_weak(activity->next_, activity)) {
    }
  }

  ~attached_thread() {
    if (stack != nullptr) {
      stack_t none{};
      none.ss_flags = SS_DISABLE;
      ::sigaltstack(&none, nullptr);
    }
    thread_activity::own_ = nullptr;
    if (activity == nullptr) return;
    activity->move_to({});
    activity->taken_ = false;
  }

  /// Leaves one that a sanitizer has set up.
  void prepare_stack() noexcept {
    stack_t now{};
    if (::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
    stack.reset(new (std::nothrow) std::byte[alternate_stack_bytes]);
    if (stack == nullptr) return;
    now = {};
    now.ss_sp = stack.get();
    now.ss_size = alternate_stack_bytes;
    if (::sigaltstack(&now, nullptr) != 0) stack.reset();
  }

  thread_activity* activity = nullptr;
  std::unique_ptr<std::byte[]> stack;
};

thread_activity& thread_activity::attach() noexcept {
  static thread_activity without_memory;
  thread_local attached_thread mine;
  own_ = mine.activity != nullptr ? mine.activity : &without_memory;
  return *own_;
}

}  // namespace graphline
