#include "framework/base/thread_number.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <atomic>
#include <map>
#include <mutex>

namespace graphline {

namespace {

/// Never destroyed: threads may outlive static objects.
struct name_list {
  std::mutex lock;
  std::map<std::uint32_t, std::string> names;
};
name_list& known() {
  static auto* const list = new name_list;
  return *list;
}

}  // namespace

std::uint32_t thread_number() noexcept {
  static std::atomic<std::uint32_t> next{0};
  thread_local const std::uint32_t own = next.fetch_add(1, std::memory_order_relaxed);
  return own;
}

void name_thread(const std::string& name) {
  ::pthread_setname_np(::pthread_self(), name.substr(0, 15).c_str());
  const std::lock_guard lock(known().lock);
  known().names[thread_number()] = name;
}

std::string thread_name(std::uint32_t number) {
  const std::lock_guard lock(known().lock);
  const auto found = known().names.find(number);
  return found != known().names.end() ? found->second : fmt::format("thread {}", number);
}

}  // namespace graphline
