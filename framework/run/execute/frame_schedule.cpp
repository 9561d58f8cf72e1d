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

arrival_source arrival_times(const settings& run, std::uint64_t seed, const arrival_trace* trace) {
  const auto burst = static_cast<double>(run.burst);
  const double gap = run.rate ? std::min(burst * 1e9 / *run.rate, latest) : 0;
  std::function<nanoseconds(std::size_t)> due_of;  // called with 0, 1, ...
  std::int64_t count = run.frames;
  if (run.arrival == arrival::trace) {
    const double scale = run.rate && trace->mean_gap > 0 ? gap / trace->mean_gap : 1;
    due_of = [trace, scale](std::size_t i) {
      return rounded(scale * static_cast<double>(trace->due[i]));
    };
    count = std::min(count, run.burst * static_cast<std::int64_t>(trace->due.size()));
  } else if (run.arrival == arrival::poisson) {
    due_of = [gap, at = 0.0, bits = std::mt19937_64(seed)](std::size_t) mutable {
      at -= gap * std::log1p(-uniform_unit(bits));
      return rounded(at);
    };
  } else {
    due_of = [gap](std::size_t i) { return rounded(static_cast<double>(i) * gap); };
  }
  const auto jitter = static_cast<double>(run.jitter.value_or(0));
  return [due_of = std::move(due_of), count, burst = run.burst, phase = run.phase.value_or(0),
          jitter, produced = std::int64_t{0}, last = frame_arrival{},
          bits = std::mt19937_64(mix_seed(seed, 1))]() mutable -> std::optional<frame_arrival> {
    if (produced == count) return std::nullopt;
    const auto burst_index = static_cast<std::size_t>(produced / burst);
    if (produced % burst == 0) last.due = phase + due_of(burst_index);
    ++produced;
    // Frames begin in order, so a frame is not released before the one due before it.
    last.release = std::max(last.release, last.due + rounded(jitter * uniform_unit(bits)));
    return last;
  };
}

frame_schedule::frame_schedule(arrival_source arrivals, std::int64_t queue, queue_policy when_full,
                               frame_batching batching, nanoseconds give_up)
    : room_(static_cast<std::size_t>(queue)),
      when_full_(when_full),
      batching_(batching),
      give_up_(give_up),
      arrivals_(std::move(arrivals)),
      coming_(arrivals_()) {
  taken_.reserve(static_cast<std::size_t>(batching_.up_to));
}

std::optional<nanoseconds> frame_schedule::next(nanoseconds at) {
  const std::lock_guard locked(lock_);
  if (closed_) return std::nullopt;
  if (!origin_) origin_ = at;
  if (!asked_) asked_ = at;
  while (coming_ && *origin_ + coming_->release < at) arrive();
  if (queue_.empty() && !coming_) return std::nullopt;
  nanoseconds next = first_release();
  if (queue_.size() < static_cast<std::size_t>(batching_.up_to)) {
    next += batching_.wait;
    if (coming_) next = std::min(next, coming_->release);
  }
  return *origin_ + next;
}

begun_frames frame_schedule::begin_frames(std::int64_t completed, nanoseconds at) {
  const std::lock_guard locked(lock_);
  if (closed_) return {};
  forget(completed);
  const auto most = static_cast<std::size_t>(batching_.up_to);
  const nanoseconds now = at - *origin_;
  nanoseconds first = 0;
  while (true) {
    while (queue_.size() < most && coming_ && coming_->release <= now) {
      queue_.push_back(*coming_);
      coming_ = arrivals_();
    }
    if (queue_.empty()) return {};
    first = queue_.front().release;
    if (queue_.size() < most && now < first + batching_.wait) {
      load_.longest_queue = std::max(load_.longest_queue, static_cast<std::int64_t>(queue_.size()));
      return {};
    }
    if (now - queue_.front().due <= give_up_) break;
    dropped_.push_back(queue_.front().due);
    queue_.pop_front();
  }
  taken_.clear();
  while (taken_.size() < most && !queue_.empty()) {
    begun_.push_back(queue_.front().due);
    taken_.push_back(*origin_ + queue_.front().due);
    queue_.pop_front();
  }
  together_.push_back(taken_.size());
  return {taken_, std::max(*std::exchange(asked_, std::nullopt), *origin_ + first)};
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
  const frame_arrival newest = *coming_;
  coming_ = arrivals_();
  if (queue_.size() >= room_) {
    ++load_.found_full;
    if (when_full_ == queue_policy::drop_newest) {
      dropped_.push_back(newest.due);
      return;
    }
    if (when_full_ == queue_policy::drop_oldest) {
      dropped_.push_back(queue_.front().due);
      queue_.pop_front();
    }
  }
  // Under `block`, `queue_` exceeds its capacity instead of blocking the arrivals.
  queue_.push_back(newest);
  load_.longest_queue = std::max(load_.longest_queue, static_cast<std::int64_t>(queue_.size()));
}

load_record frame_schedule::end(nanoseconds epoch, nanoseconds ended, std::int64_t completed) {
  const std::lock_guard locked(lock_);
  closed_ = true;
  load_.ended = ended - epoch;
  if (!origin_) return std::move(load_);
  while (coming_ && coming_->release <= ended - *origin_) arrive();
  const nanoseconds begin = *origin_ - epoch;
  const auto add = [begin](nanoseconds due, std::vector<nanoseconds>& to) {
    to.push_back(due + begin);
  };
  load_.dropped.reserve(dropped_.size());
  for (const nanoseconds due : dropped_) add(due, load_.dropped);
  std::ranges::sort(load_.dropped);
  forget(completed);
  for (const nanoseconds due : begun_) add(due, load_.unfinished);
  for (const frame_arrival& each : queue_) add(each.due, load_.unfinished);
  return std::move(load_);
}

namespace {

arrival_source arrivals_of(const plan& p, const settings& run, std::uint64_t seed) {
  return arrival_times(run, mix_seed(seed, seed_from(p.pipeline)), p.arrivals.get());
}

}  // namespace

nanoseconds give_up_time(const settings& run) noexcept {
  return run.late == late_rule::finish || !run.deadline ? INT64_MAX : *run.deadline;
}

std::unique_ptr<frame_schedule> make_frame_schedule(const plan& p, const settings& run,
                                                    std::uint64_t seed) {
  if (run.arrival == arrival::closed) return nullptr;
  return std::make_unique<frame_schedule>(
      arrivals_of(p, run, seed), run.queue, run.when_full,
      frame_batching{run.batch_frames, run.batch_wait.value_or(0)}, give_up_time(run));
}

std::int64_t frames_due_before(nanoseconds horizon, const plan& p, std::optional<double> rate,
                               std::uint64_t seed, std::int64_t most) {
  settings run = p.run;
  if (rate) run.rate = rate;
  run.frames = most;
  const auto arrivals = arrivals_of(p, run, seed);
  std::int64_t frames = 0;
  for (auto next = arrivals(); next && next->due < horizon; next = arrivals()) ++frames;
  return frames;
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
