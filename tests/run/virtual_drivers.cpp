#include "tests/run/virtual_drivers.hpp"

#include <algorithm>
#include <utility>

#include "framework/base/error.hpp"

namespace graphline {

thread_local virtual_drivers::driver* virtual_drivers::own_ = nullptr;

void virtual_drivers::run(const std::vector<std::function<void()>>& functions) {
  for (const auto& function : functions) {
    driver& d = drivers_.emplace_back();
    d.thread = std::thread([this, &d, &function] { drive(d, function); });
  }
  const auto is_done = [](const driver& d) { return d.done; };
  while (!std::ranges::all_of(drivers_, is_done)) {
    const auto next = std::ranges::find_if(drivers_, [](const driver& d) { return d.ready; });
    if (next != drivers_.end()) {
      resume(*next);
    } else {
      advance();
    }
  }
  for (driver& d : drivers_) d.thread.join();
  const auto failed =
      std::ranges::find_if(drivers_, [](const driver& d) { return d.problem != nullptr; });
  const auto problem = failed == drivers_.end() ? nullptr : failed->problem;
  drivers_.clear();
  if (problem) std::rethrow_exception(problem);
}

void virtual_drivers::wait_until(nanoseconds when) {
  driver& d = *own_;
  clock_.at(std::max(when, clock_.now()), [&d] { d.ready = true; });
  pause(d);
}

void virtual_drivers::wait_for_call() {
  own_->awaits_call = true;
  pause(*own_);
  if (stuck_) throw run_error("virtual time cannot advance: nothing is left to happen");
}

void virtual_drivers::drive(driver& d, const std::function<void()>& function) {
  own_ = &d;
  std::unique_lock held(lock_);
  changed_.wait(held, [&] { return running_ == &d; });
  held.unlock();
  try {
    function();
  } catch (...) {
    d.problem = std::current_exception();
  }
  held.lock();
  d.ready = false;
  d.done = true;
  running_ = nullptr;
  changed_.notify_all();
}

void virtual_drivers::resume(driver& d) {
  std::unique_lock held(lock_);
  running_ = &d;
  changed_.notify_all();
  changed_.wait(held, [this] { return running_ == nullptr; });
}

void virtual_drivers::pause(driver& d) {
  std::unique_lock held(lock_);
  d.ready = false;
  running_ = nullptr;
  changed_.notify_all();
  changed_.wait(held, [&] { return running_ == &d; });
}

void virtual_drivers::advance() {
  stuck_ = !clock_.step();
  for (driver& d : drivers_) {
    if (std::exchange(d.awaits_call, false)) d.ready = true;
  }
}

}  // namespace graphline
