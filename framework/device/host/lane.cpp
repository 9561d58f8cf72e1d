#include "framework/device/host/lane.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>

#include "framework/base/clock.hpp"
#include "framework/base/error.hpp"
#include "framework/device/host/host_stream.hpp"

namespace graphline {

std::string name_of(const command& c) {
  if (const auto* operate = std::get_if<operate_command>(&c)) {
    return std::string(operate->operation->name());
  }
  if (const auto* copy = std::get_if<copy_command>(&c)) {
    return name_of(*copy);
  }
  if (const auto* fill = std::get_if<fill_command>(&c)) {
    return name_of(*fill);
  }
  if (const auto* call = std::get_if<call_command>(&c)) return name_of(*call);
  if (const auto* stamp = std::get_if<stamp_command>(&c)) return stamp->stamped->name();
  if (const auto* select = std::get_if<select_command>(&c)) return name_of(*select);
  return "";  // not a node
}

ticket lane::reserve() noexcept {
  const ticket next = submitted_.load(std::memory_order_relaxed) + 1;
  if (next > known_completed_ + capacity) {
    const ticket freed_by = next - capacity;
    // Polls first: with short operations, a slot becomes free before a thread falls asleep.
    constexpr int polls = 1000;
    for (int i = 0; i < polls && !passed(freed_by); ++i) pause_briefly();
    wait(freed_by, wait_mode::block);
    known_completed_ = completed_.load(std::memory_order_acquire);
  }
  return next;
}

void lane::wait(ticket t, wait_mode how) const noexcept {
  switch (how) {
    case wait_mode::spin:
      while (!passed(t)) pause_briefly();
      return;
    case wait_mode::yield:
      while (!passed(t)) ::sched_yield();
      return;
    case wait_mode::block:
      if (!passed(t)) sleep_until(t);
      return;
  }
}

// No wake-up is lost. The sleeper lowers `wake_at_`, then reads `completed_`. The worker writes
// `completed_`, then reads `wake_at_`. Both pairs are sequentially consistent, so at least one side
// sees the other's write. If `wake` resets `wake_at_`, the sleeper finds `wakes_` changed.
void lane::sleep_until(ticket t) const noexcept {
  for (;;) {
    const std::uint32_t seen = wakes_.load(std::memory_order_seq_cst);
    ticket at = wake_at_.load(std::memory_order_seq_cst);
    while (t < at && !wake_at_.compare_exchange_weak(at, t, std::memory_order_seq_cst)) {
    }
    if (completed_.load(std::memory_order_seq_cst) >= t) return;
    wakes_.wait(seen, std::memory_order_seq_cst);
    if (passed(t)) return;
  }
}

void lane::wake() noexcept {
  wake_at_.store(nobody, std::memory_order_seq_cst);
  wakes_.fetch_add(1, std::memory_order_seq_cst);
  wakes_.notify_all();
}

lane_table::roster lane_table::make_roster() {
  roster made;
  for (auto& group : made) group.reserve(recorded_point::max_lanes);
  return made;
}

lane& lane_table::acquire(priority level) {
  const std::scoped_lock lock(mutex_);
  auto spare = std::ranges::find(entries_, false, &entry::in_use);
  if (spare == entries_.end()) {
    const auto id = static_cast<std::uint32_t>(entries_.size());
    if (id == recorded_point::max_lanes) {
      throw run_error(
          fmt::format("the host device has {} streams already, which is as many as it can serve; "
                      "destroy some first",
                      recorded_point::max_lanes));
    }
    entries_.push_back({std::make_unique<lane>(id), level, false});
    spare = std::prev(entries_.end());
    by_id_[id].store(spare->owned.get(), std::memory_order_release);
    count_.store(id + 1, std::memory_order_release);
  }
  spare->level = level;
  spare->in_use = true;
  version_.fetch_add(1, std::memory_order_seq_cst);
  return *spare->owned;
}

void lane_table::release(const lane& l) noexcept {
  const std::scoped_lock lock(mutex_);
  entries_[l.id()].in_use = false;
  version_.fetch_add(1, std::memory_order_seq_cst);
}

void lane_table::list(roster& into) const {
  const std::scoped_lock lock(mutex_);
  for (auto& group : into) group.clear();
  for (const entry& e : entries_) {
    if (e.in_use) into[static_cast<std::size_t>(e.level)].push_back(e.owned.get());
  }
}

const lane* lane_table::find(recorded_point r) const noexcept {
  if (r.is_never() || r.is_in_capture()) return nullptr;
  return by_id_[r.lane()].load(std::memory_order_acquire);
}

lane_wait lane_table::pending(recorded_point r) const noexcept {
  const lane* l = find(r);
  return l == nullptr || l->passed(r.number()) ? lane_wait{} : lane_wait{l, r.number()};
}

void lane_table::wait(recorded_point r, wait_mode how) const noexcept {
  if (const lane* l = find(r)) l->wait(r.number(), how);
}

void lane_table::wait_for_all(wait_mode how) const noexcept {
  const std::uint32_t count = count_.load(std::memory_order_acquire);
  for (std::uint32_t id = 0; id < count; ++id) {
    const lane& l = *by_id_[id].load(std::memory_order_acquire);
    l.wait(l.submitted(), how);
  }
}

}  // namespace graphline
