#include "framework/base/thread_number.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <atomic>
#include <map>
#include <mutex>

namespace graphline {

namespace {

/// Never destroyed, because threads may outlive static objects.
struct name_list {
  std::mutex lock;
  std::map<std::uint32_t, std::string> names;
};
name_list& known() {
  static auto* const list = new name_list;
  return *list;
}

std::atomic<std::uint32_t> next_number{0};

}  // namespace

std::uint32_t thread_number() noexcept {
  thread_local const std::uint32_t own = next_number.fetch_add(1, std::memory_order_relaxed);
  return own;
}

std::uint32_t new_thread_number(std::string_view name) {
  const std::uint32_t number = next_number.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(known().lock);
  known().names[number] = name;
  return number;
}

void name_thread(std::string_view name) noexcept {
  char shown[16] = {};
  name.copy(shown, sizeof shown - 1);
  ::pthread_setname_np(::pthread_self(), shown);
  try {
    const std::lock_guard lock(known().lock);
    known().names[thread_number()] = name;
  } catch (const std::bad_alloc&) {
  }
}

std::string thread_name(std::uint32_t number) {
  const std::lock_guard lock(known().lock);
  const auto found = known().names.find(number);
  return found != known().names.end() ? found->second : fmt::format("thread {}", number);
}

run_error thread_start_error(std::string_view what, const std::system_error& why) {
  return run_error(
      fmt::format("{}: {}; end other programs or raise the limit of threads (ulimit -u)", what,
                  why.code().message()));
}

}  // namespace graphline
