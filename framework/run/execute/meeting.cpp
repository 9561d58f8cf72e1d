#include "framework/run/execute/meeting.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace graphline {

meeting::meeting(std::vector<bool> leads)
    : leads_(std::move(leads)),
      stops_(std::make_unique<stop_request[]>(leads_.size())),
      standings_(leads_.size(), standing::preparing) {}

void meeting::begin(std::size_t run) {
  std::unique_lock lock(mutex_);
  move(run, standing::ready);
  changed_.wait(lock, [this] { return why_ || all_at_least(standing::ready); });
}

void meeting::end(std::size_t run) {
  std::unique_lock lock(mutex_);
  move(run, standing::ended);
  changed_.wait(lock, [this] { return all_at_least(standing::ended); });
}

void meeting::leave(std::size_t run, bool failed) {
  const std::scoped_lock lock(mutex_);
  if (failed) halt(meeting_end::failure);
  move(run, standing::left);
}

void meeting::see_through(const stop_request* stop) {
  constexpr auto look_every = std::chrono::milliseconds(10);
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, look_every, [this] { return all_at_least(standing::left); })) {
    if (stop != nullptr && stop->raised()) halt(meeting_end::person);
  }
}

std::optional<meeting_end> meeting::why() const {
  const std::scoped_lock lock(mutex_);
  return why_;
}

bool meeting::all_at_least(standing s) const noexcept {
  return std::ranges::all_of(standings_, [s](standing found) { return found >= s; });
}

/// With the mutex held.
void meeting::move(std::size_t run, standing to) {
  standings_[run] = to;
  bool leading = false;
  for (std::size_t i = 0; i < leads_.size(); ++i) {
    leading |= leads_[i] && standings_[i] < standing::ended;
  }
  if (!leading) halt(meeting_end::leaders);
  changed_.notify_all();
}

/// With the mutex held.
void meeting::halt(meeting_end reason) noexcept {
  if (why_) return;
  why_ = reason;
  for (std::size_t i = 0; i < leads_.size(); ++i) stops_[i].raise();
  changed_.notify_all();
}

}  // namespace graphline
