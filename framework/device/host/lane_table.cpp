#include "framework/device/host/lane_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "framework/base/error.hpp"

namespace graphline {

lane_table::roster lane_table::make_roster() {
  roster made;
  for (auto& group : made) group.reserve(recording::max_lanes);
  return made;
}

lane& lane_table::acquire(priority level) {
  const std::scoped_lock lock(mutex_);
  auto spare = std::ranges::find(entries_, false, &entry::in_use);
  if (spare == entries_.end()) {
    const auto id = static_cast<std::uint32_t>(entries_.size());
    if (id == recording::max_lanes) {
      throw run_error(
          fmt::format("the host device has {} streams already, which is as many as it can serve; "
                      "destroy some first",
                      recording::max_lanes));
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

const lane* lane_table::find(recording r) const noexcept {
  if (r.is_never() || r.is_in_capture()) return nullptr;
  return by_id_[r.lane()].load(std::memory_order_acquire);
}

dependency lane_table::pending(recording r) const noexcept {
  const lane* l = find(r);
  return l == nullptr || l->passed(r.number()) ? dependency{} : dependency{l, r.number()};
}

void lane_table::wait(recording r, wait_mode how) const noexcept {
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
