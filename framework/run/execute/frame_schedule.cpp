#include "framework/run/execute/frame_schedule.hpp"

#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <random>
#include <utility>

#include "framework/base/random.hpp"

namespace graphline {
namespace {

/// Far beyond any run and far from running over when a clock's time is added: 73 years.
constexpr double latest = 0x1p61;

nanoseconds rounded(double ns) noexcept {
  return std::llround(std::min(ns, latest));
}

}  // namespace

std::vector<nanoseconds> arrival_times(arrival how, double rate, std::int64_t count,
                                       std::uint64_t seed) {
  std::vector<nanoseconds> due(static_cast<std::size_t>(count));
  const double gap = std::min(1e9 / rate, latest);
  if (how == arrival::poisson) {
    std::mt19937_64 generator(seed);
    double at = 0;
    for (auto& time : due) {
      at -= gap * std::log1p(-uniform_unit(generator));
      time = rounded(at);
    }
  } else {
    for (std::size_t i = 0; i < due.size(); ++i) due[i] = rounded(static_cast<double>(i) * gap);
  }
  return due;
}

frame_schedule::frame_schedule(std::vector<nanoseconds> due, std::int64_t queue,
                               queue_policy when_full)
    : due_(std::move(due)), room_(static_cast<std::size_t>(queue)), when_full_(when_full) {
  if (when_full_ != queue_policy::block) load_.dropped.reserve(due_.size());
}

std::optional<nanoseconds> frame_schedule::next(nanoseconds at) {
  if (!origin_) origin_ = at;
  while (arrived_ < due_.size() && *origin_ + due_[arrived_] < at) arrive();
  const std::size_t next = head_ < tail_ ? head_ : arrived_;
  if (next == due_.size()) return std::nullopt;
  return *origin_ + due_[next];
}

void frame_schedule::begin_frame() {
  if (head_ == tail_) {
    head_ = arrived_;
    tail_ = ++arrived_;
  }
  due_[begun_++] = due_[head_++];
}

void frame_schedule::arrive() {
  const nanoseconds due = due_[arrived_++];
  if (tail_ - head_ >= room_) {
    ++load_.found_full;
    if (when_full_ == queue_policy::drop_newest) {
      load_.dropped.push_back(due);
      return;
    }
    if (when_full_ == queue_policy::drop_oldest) load_.dropped.push_back(due_[head_++]);
  }
  // Under `block` those outside stand in line behind those inside, as if there were room.
  due_[tail_++] = due;
  load_.longest_queue = std::max(load_.longest_queue, static_cast<std::int64_t>(tail_ - head_));
}

load_record frame_schedule::hand_over(nanoseconds epoch, nanoseconds end,
                                      std::int64_t completed) && {
  load_.ended = end - epoch;
  if (!origin_) return std::move(load_);
  const nanoseconds last = end - *origin_;
  while (arrived_ < due_.size() && due_[arrived_] <= last) arrive();
  const auto at = [this](std::size_t index) {
    return due_.begin() + static_cast<std::ptrdiff_t>(index);
  };
  load_.unfinished.assign(at(static_cast<std::size_t>(completed)), at(begun_));
  load_.unfinished.insert(load_.unfinished.end(), at(head_), at(tail_));
  for (auto* times : {&load_.dropped, &load_.unfinished}) {
    for (auto& time : *times) time += *origin_ - epoch;
  }
  return std::move(load_);
}

due_wait::due_wait(wait_mode how) noexcept : how_(how) {
  if (how_ != wait_mode::block) return;
  // The system puts off a wake-up by this, usually 50 us, to serve several with one.
  slack_ = ::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
  if (slack_ >= 0) ::prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
}

due_wait::~due_wait() {
  if (slack_ >= 0) ::prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(slack_), 0, 0, 0);
}

void due_wait::pause(nanoseconds at) const noexcept {
  switch (how_) {
    case wait_mode::spin:
      return;
    case wait_mode::yield:
      ::sched_yield();
      return;
    case wait_mode::block: {
      const timespec moment{static_cast<std::time_t>(at / 1'000'000'000),
                            static_cast<long>(at % 1'000'000'000)};
      // A signal ends it early: whoever sent it may have asked for a stop.
      ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, nullptr);
      return;
    }
  }
}

}  // namespace graphline
