#include "framework/run/execute/task_timer.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <system_error>

#include "framework/base/realtime.hpp"
#include "framework/base/thread_number.hpp"

namespace graphline {

task_timer::task_timer(std::size_t capacity, std::function<void(std::uint64_t)> call,
                       std::int64_t realtime)
    : call_(std::move(call)) {
  pending_.reserve(capacity);
  try {
    thread_ = std::thread([this, realtime] {
      name_thread("timer");
      const scoped_realtime scheduled(realtime);
      run();
    });
  } catch (const std::system_error& e) {
    throw thread_start_error("the policy needs a timer, which cannot start its thread", e);
  }
}

task_timer::~task_timer() {
  {
    const std::lock_guard held(lock_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void task_timer::at(nanoseconds when, std::uint64_t token) {
  {
    const std::lock_guard held(lock_);
    pending_.emplace_back(when, token);
    std::ranges::push_heap(pending_, std::greater{});
  }
  changed_.notify_one();
}

void task_timer::run() {
  std::unique_lock held(lock_);
  while (!ending_) {
    if (pending_.empty()) {
      changed_.wait(held);
    } else if (const auto [when, token] = pending_.front(); when > now()) {
      changed_.wait_for(held, std::chrono::nanoseconds(when - now()));
    } else {
      std::ranges::pop_heap(pending_, std::greater{});
      pending_.pop_back();
      held.unlock();
      call_(token);
      held.lock();
    }
  }
}

}  // namespace graphline
