#include "framework/run/execute/frame_schedule.hpp"

#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <random>
#include <utility>
#include <vector>

#include "framework/base/random.hpp"

namespace graphline {
namespace {

/// 73 years. Adding this to a clock time does not overflow.
constexpr double latest = 0x1p61;

nanoseconds rounded(double ns) noexcept {
  return std::llround(std::min(ns, latest));
}

}  // namespace

arrival_source arrival_times(arrival how, double rate, std::int64_t count, std::uint64_t seed) {
  const double gap = std::min(1e9 / rate, latest);
  using time = std::optional<nanoseconds>;
  if (how == arrival::poisson) {
    return [gap, left = count, at = 0.0, bits = std::mt19937_64(seed)]() mutable -> time {
      if (left == 0) return std::nullopt;
      --left;
      at -= gap * std::log1p(-uniform_unit(bits));
      return rounded(at);
    };
  }
  return [gap, count, told = std::int64_t{0}]() mutable -> time {
    if (told == count) return std::nullopt;
    return rounded(static_cast<double>(told++) * gap);
  };
}

frame_schedule::frame_schedule(arrival_source arrivals, std::int64_t queue, queue_policy when_full,
                               frame_batching batching)
    : room_(static_cast<std::size_t>(queue)),
      when_full_(when_full),
      batching_(batching),
      arrivals_(std::move(arrivals)),
      coming_(arrivals_()) {
  taken_.reserve(static_cast<std::size_t>(batching_.up_to));
}

std::optional<nanoseconds> frame_schedule::next(nanoseconds at) {
  const std::lock_guard locked(lock_);
  if (closed_) return std::nullopt;
  if (!origin_) origin_ = at;
  if (!asked_) asked_ = at;
  while (coming_ && *origin_ + *coming_ < at) arrive();
  if (queue_.empty() && !coming_) return std::nullopt;
  nanoseconds next = first_due();
  if (queue_.size() < static_cast<std::size_t>(batching_.up_to)) {
    next += batching_.wait;
    if (coming_) next = std::min(next, *coming_);
  }
  return *origin_ + next;
}

begun_frames frame_schedule::begin_frames(std::int64_t completed, nanoseconds at) {
  const std::lock_guard locked(lock_);
  if (closed_) return {};
  forget(completed);
  const auto most = static_cast<std::size_t>(batching_.up_to);
  const nanoseconds now = at - *origin_;
  const nanoseconds first = first_due();
  taken_.clear();
  while (taken_.size() < most && (!queue_.empty() || (coming_ && *coming_ <= now))) {
    taken_.push_back(first_due());
    if (queue_.empty()) {
      coming_ = arrivals_();
    } else {
      queue_.pop_front();
    }
  }
  if (taken_.size() < most && now < first + batching_.wait) {
    queue_.insert(queue_.begin(), taken_.begin(), taken_.end());
    load_.longest_queue = std::max(load_.longest_queue, static_cast<std::int64_t>(queue_.size()));
    return {};
  }
  together_.push_back(taken_.size());
  begun_.insert(begun_.end(), taken_.begin(), taken_.end());
  for (nanoseconds& due : taken_) due += *origin_;
  return {taken_, std::max(*std::exchange(asked_, std::nullopt), taken_.front())};
}

void frame_schedule::forget(std::int64_t completed) {
  for (; done_ < completed; ++done_) {
    begun_.erase(begun_.begin(), begun_.begin() + static_cast<std::ptrdiff_t>(together_.front()));
    together_.pop_front();
  }
}

void frame_schedule::close() {
  const std::lock_guard locked(lock_);
  closed_ = true;
}

void frame_schedule::arrive() {
  const nanoseconds due = *coming_;
  coming_ = arrivals_();
  if (queue_.size() >= room_) {
    ++load_.found_full;
    if (when_full_ == queue_policy::drop_newest) {
      dropped_.push_back(due);
      return;
    }
    if (when_full_ == queue_policy::drop_oldest) {
      dropped_.push_back(queue_.front());
      queue_.pop_front();
    }
  }
  // Under `block`, `queue_` exceeds its capacity instead of blocking the arrivals.
  queue_.push_back(due);
  load_.longest_queue = std::max(load_.longest_queue, static_cast<std::int64_t>(queue_.size()));
}

load_record frame_schedule::end(nanoseconds epoch, nanoseconds ended, std::int64_t completed) {
  const std::lock_guard locked(lock_);
  closed_ = true;
  load_.ended = ended - epoch;
  if (!origin_) return std::move(load_);
  while (coming_ && *coming_ <= ended - *origin_) arrive();
  const nanoseconds begin = *origin_ - epoch;
  const auto add = [begin](nanoseconds due, std::vector<nanoseconds>& to) {
    to.push_back(due + begin);
  };
  load_.dropped.reserve(dropped_.size());
  for (const nanoseconds due : dropped_) add(due, load_.dropped);
  forget(completed);
  for (const nanoseconds due : begun_) add(due, load_.unfinished);
  for (const nanoseconds due : queue_) add(due, load_.unfinished);
  return std::move(load_);
}

std::unique_ptr<frame_schedule> make_frame_schedule(std::string_view pipeline, const settings& run,
                                                    std::uint64_t seed) {
  if (run.arrival == arrival::closed) return nullptr;
  const auto mixed = mix_seed(seed, seed_from(pipeline));
  return std::make_unique<frame_schedule>(
      arrival_times(run.arrival, *run.rate, run.frames, mixed), run.queue, run.when_full,
      frame_batching{run.batch_frames, run.batch_wait.value_or(0)});
}

due_wait::due_wait(wait_mode how) noexcept : how_(how) {
  if (how_ != wait_mode::block) return;
  // The kernel delays wake-ups by the timer slack (usually 50 us) to combine timers.
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
      // A signal ends the sleep early, because it may request a stop.
      ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, nullptr);
      return;
    }
  }
}

}  // namespace graphline
