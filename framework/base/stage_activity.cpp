#include "framework/base/stage_activity.hpp"

#include <pthread.h>
#include <signal.h>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <tuple>
#include <utility>

namespace graphline {
namespace {

constexpr std::size_t alternate_stack_bytes = 64 * 1024;

}  // namespace

const stage_label* stage_label_of(const std::string& stage, const std::string& kind,
                                  const std::string& plugin) {
  // Never destroyed, because threads may outlive static objects.
  static auto* const lock = new std::mutex;
  static auto* const known = new std::map<std::tuple<std::string, std::string, std::string>,
                                          std::unique_ptr<const stage_label>>;
  const std::lock_guard locked(*lock);
  auto& label = (*known)[{stage, kind, plugin}];
  if (label == nullptr) label = std::make_unique<stage_label>(stage_label{stage, kind, plugin});
  return label.get();
}

std::string to_string(const stage_label& label) {
  const std::string origin = label.plugin.empty() ? "" : " of plug-in " + label.plugin;
  return "stage '" + label.stage + "' (" + label.kind + origin + ")";
}

std::string to_string(const stage_point& at) {
  const bool frame = at.frame != stage_point::getting_ready;
  return to_string(*at.stage) + (frame ? ", frame " + std::to_string(at.frame) : "");
}

/// Installs the stack that handlers need after a stack overflow. Keeps a sanitizer's stack.
void thread_activity::prepare_stack() noexcept {
  stack_t now{};
  if (::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
  if (stack_ == nullptr) stack_.reset(new (std::nothrow) std::byte[alternate_stack_bytes]);
  if (stack_ == nullptr) return;
  now = {};
  now.ss_sp = stack_.get();
  now.ss_size = alternate_stack_bytes;
  ::sigaltstack(&now, nullptr);
}

/// Called at thread exit. Lets another thread reuse the activity.
void thread_activity::detach(void* activity) noexcept {
  auto& own = *static_cast<thread_activity*>(activity);
  stack_t now{};
  if (::sigaltstack(nullptr, &now) == 0 && now.ss_sp == own.stack_.get()) {
    now.ss_flags = SS_DISABLE;
    ::sigaltstack(&now, nullptr);
  }
  own_ = nullptr;
  own.move_to({});
  own.taken_ = false;
}

thread_activity& thread_activity::attach() noexcept {
  static thread_activity without_memory;
  // Uses a pthread key. A thread-local destructor would end the program if memory ran out.
  static const auto at_end = [] {
    std::optional<pthread_key_t> key(std::in_place);
    if (::pthread_key_create(&*key, detach) != 0) key.reset();
    return key;
  }();
  thread_activity* activity = first_.load();
  while (activity != nullptr && activity->taken_.exchange(true)) activity = activity->next_;
  if (activity == nullptr) {
    activity = new (std::nothrow) thread_activity;
    if (activity == nullptr) return *(own_ = &without_memory);
    activity->next_ = first_.load();
    while (!first_.compare_exchange_weak(activity->next_, activity)) {
    }
  }
  if (at_end) ::pthread_setspecific(*at_end, activity);
  activity->prepare_stack();
  return *(own_ = activity);
}

}  // namespace graphline
