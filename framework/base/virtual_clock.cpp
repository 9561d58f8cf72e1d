#include "framework/base/virtual_clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "framework/base/error.hpp"

namespace graphline {
namespace {

constexpr std::uint64_t at_end_bit = std::uint64_t{1} << 63;

}  // namespace

bool virtual_clock::step() {
  if (due_.empty()) return false;
  std::ranges::pop_heap(due_, std::greater{});
  const entry next = due_.back();
  due_.pop_back();
  const std::function<void()> call = std::exchange(calls_[next.call], nullptr);
  free_.push_back(next.call);
  now_ = next.when;
  call();
  return true;
}

void virtual_clock::advance_to(nanoseconds when) {
  // Excludes calls at the end of `when`, because the caller may still act at that time.
  const entry end{when, at_end_bit, 0};
  while (!due_.empty() && due_.front() < end) step();
  now_ = std::max(now_, when);
}

void virtual_clock::add(nanoseconds when, bool at_end, std::function<void()> call) {
  if (when < now_) {
    throw run_error(fmt::format(
        "a call was scheduled for {} ns of virtual time, which is at {} ns already", when, now_));
  }
  if (free_.empty()) {
    free_.push_back(calls_.size());
    calls_.emplace_back();
  }
  const std::size_t slot = free_.back();
  free_.pop_back();
  calls_[slot] = std::move(call);
  due_.push_back({when, (at_end ? at_end_bit : 0) | scheduled_++, slot});
  std::ranges::push_heap(due_, std::greater{});
}

void virtual_clock::refuse_to_wait() const {
  throw run_error(fmt::format(
      "deadlock: at {} ns of virtual time nothing is left to happen that could end a wait", now_));
}

}  // namespace graphline
