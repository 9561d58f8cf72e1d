#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "framework/base/stop_request.hpp"
#include "framework/device/device.hpp"
#include "framework/plan/experiment_plan.hpp"
#include "framework/run/execute/session.hpp"
#include "framework/run/experiment/trial_runner.hpp"

namespace graphline {

/// A session that is ready, and where.
struct ready_session {
  graphline::session* session = nullptr;
  device* on = nullptr;
};

/// The sessions of an experiment, kept from trial to trial as far as they fit into a budget of
/// device memory. A plan's own need stands for what is not prepared yet; after that, what preparing
/// it took.
class session_pool {
 public:
  /// `budget` in bytes, of all devices together. `planned` must outlive the pool.
  session_pool(const experiment_plan& planned, device_source devices, std::uint64_t budget);

  /// The sessions of a configuration, one per member, prepared where they are not; good until the
  /// next call. Gives up those used least recently when all would not fit, and all others when a
  /// session cannot be prepared beside them. Throws what `session` throws.
  std::vector<ready_session> take(std::size_t configuration, const stop_request* stop);

 private:
  using key = std::pair<std::size_t, std::size_t>;  // configuration and member

  struct entry {
    graphline::session session;
    device* on;
    std::uint64_t bytes;
    std::uint64_t used;  ///< the call of `take` that used it last
  };

  entry& ready(key k, const stop_request* stop);
  entry& prepare(key k, const plan& p, const stop_request* stop);
  bool give_up_oldest();
  std::uint64_t held() const noexcept;

  const experiment_plan& planned_;
  device_source devices_;
  std::uint64_t budget_;
  std::uint64_t calls_ = 0;
  std::map<key, entry> entries_;
  std::map<key, std::uint64_t> known_bytes_;  ///< of those prepared at some time
};

}  // namespace graphline
