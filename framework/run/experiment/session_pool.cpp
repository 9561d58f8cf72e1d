#include "framework/run/experiment/session_pool.hpp"

#include <algorithm>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/plan/memory_need.hpp"
#include "framework/plan/placement.hpp"

namespace graphline {

session_pool::session_pool(const experiment_plan& planned, device_source devices,
                           std::uint64_t budget)
    : planned_(planned), devices_(std::move(devices)), budget_(budget) {}

std::vector<ready_session> session_pool::take(std::size_t configuration, const stop_request* stop) {
  ++calls_;
  const auto members = planned_.configurations.at(configuration).members.size();
  // Those that are there count as used before any other is prepared.
  for (auto& [k, e] : entries_) {
    if (k.first == configuration) e.used = calls_;
  }
  std::vector<ready_session> sessions;
  for (std::size_t member = 0; member < members; ++member) {
    entry& e = ready({configuration, member}, stop);
    sessions.push_back({&e.session, e.on});
  }
  return sessions;
}

session_pool::entry& session_pool::ready(key k, const stop_request* stop) {
  if (const auto there = entries_.find(k); there != entries_.end()) return there->second;
  const plan& p = planned_.configurations[k.first].members[k.second];
  const auto known = known_bytes_.find(k);
  const std::uint64_t need =
      known != known_bytes_.end() ? known->second : need_of(p, place_buffers(p, {})).device.total();
  while (saturating_add(held(), need) > budget_ && give_up_oldest()) {
  }
  try {
    return prepare(k, p, stop);
  } catch (const error& e) {
    // What a device has room for beside memory (streams, a library's own buffers) shows only now.
    if (e.status() != exit_status::run_failed || !give_up_oldest()) throw;
    while (give_up_oldest()) {
    }
    return prepare(k, p, stop);
  }
}

session_pool::entry& session_pool::prepare(key k, const plan& p, const stop_request* stop) {
  device& on = devices_(p);
  const auto before = on.usage().device_bytes;
  session made(p, on, stop);
  const std::uint64_t bytes = on.usage().device_bytes - before;
  known_bytes_[k] = bytes;
  return entries_.emplace(k, entry{std::move(made), &on, bytes, calls_}).first->second;
}

/// Of those that the call under way does not use; false when there is none.
bool session_pool::give_up_oldest() {
  const auto oldest =
      std::ranges::min_element(entries_, {}, [](const auto& e) { return e.second.used; });
  if (oldest == entries_.end() || oldest->second.used == calls_) return false;
  entries_.erase(oldest);
  return true;
}

std::uint64_t session_pool::held() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& [k, e] : entries_) sum = saturating_add(sum, e.bytes);
  return sum;
}

}  // namespace graphline
