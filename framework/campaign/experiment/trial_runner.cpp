#include "framework/campaign/experiment/trial_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/random.hpp"
#include "framework/plan/placement.hpp"
#include "framework/run/execute/concurrent_runs.hpp"
#include "framework/run/execute/session.hpp"

namespace graphline {
namespace {

/// Prepared sessions of an experiment, within a budget of device memory. Preparation skips the
/// timing of graph launches, because reports of experiments do not show it.
class session_pool {
 public:
  /// @param budget Bytes per device.
  /// @pre `planned` outlives the pool.
  session_pool(const experiment_plan& planned, device_source devices, std::uint64_t budget)
      : planned_(planned), devices_(std::move(devices)), budget_(budget) {}

  /// Returns the sessions of a configuration, one per member, valid until the next call. If a new
  /// session cannot be prepared or exceeds the budget, releases the sessions of other
  /// configurations. Exceptions of `session` propagate.
  std::vector<session*> take(std::size_t configuration, const stop_request* stop) {
    std::vector<session*> sessions;
    const auto& members = planned_.configurations.at(configuration).members;
    if (members.size() > 1 && planned_.how.share != sharing::none) {
      shared_.try_emplace(configuration, planned_.how.share, members, devices_(members.front()));
    }
    for (std::size_t m = 0; m < planned_.configurations.at(configuration).members.size(); ++m) {
      sessions.push_back(&ready({configuration, m}, stop));
    }
    return sessions;
  }

 private:
  using key = std::pair<std::size_t, std::size_t>;  // configuration and member

  session& ready(key k, const stop_request* stop) {
    if (const auto there = sessions_.find(k); there != sessions_.end()) return there->second;
    const plan& p = planned_.configurations[k.first].members[k.second];
    const device_group on = devices_(p);
    const memory_need need = need_of(p, place_buffers(p, {}));
    for (std::size_t d = 0; d < on.size(); ++d) {
      const std::uint64_t budget =
          p.devices[d].name.empty() ? budget_ : on[d].properties().memory_bytes.value_or(0) / 2;
      const auto used = saturating_add(on[d].usage().device_bytes, need.devices[d].total());
      if (used > budget) release_others(k.first);
    }
    const auto shared = shared_.find(k.first);
    const auto* const share = shared == shared_.end() ? nullptr : &shared->second.of(k.second);
    constexpr bool time_launches = false;
    const auto prepare = [&]() -> session& {
      return sessions_.emplace(k, session(p, on, stop, share, time_launches)).first->second;
    };
    try {
      return prepare();
    } catch (const error& e) {
      // Preparation may also exceed other device limits: streams, or internal buffers of libraries.
      if (e.status() != exit_status::run_failed || !release_others(k.first)) throw;
      return prepare();
    }
  }

  /// Releases the sessions of all other configurations; returns false if there are none.
  bool release_others(std::size_t configuration) {
    return std::erase_if(sessions_,
                         [&](const auto& entry) { return entry.first.first != configuration; }) > 0;
  }

  const experiment_plan& planned_;
  device_source devices_;
  std::uint64_t budget_;
  std::map<std::size_t, pipeline_sharing> shared_;  ///< by configuration
  std::map<key, session> sessions_;
};

class local_trial_runner final : public trial_runner {
 public:
  local_trial_runner(const experiment_plan& planned, device_source devices, std::uint64_t budget)
      : planned_(planned), pool_(planned, std::move(devices), budget) {}

  std::vector<run_record> run(std::size_t configuration, const trial_request& request,
                              const stop_request* stop) override {
    const std::string& name = planned_.configurations.at(configuration).what.name;
    try {
      auto records = run_members(configuration, request, stop);
      for (auto& record : records)
        record.source.reset();  // the experiment record contains the source
      return records;
    } catch (const interrupted_error&) {
      throw;
    } catch (const error& e) {
      const auto message = fmt::format("configuration '{}': {}", name, e.what());
      if (e.status() == exit_status::run_failed) throw run_error(message);
      throw error(e.status(), message);
    }
  }

 private:
  std::vector<run_record> run_members(std::size_t configuration, const trial_request& request,
                                      const stop_request* stop) {
    auto runs = ready(configuration, request, stop);
    std::vector<run_record> records;
    auto horizon = request.horizon;
    if (!horizon && !request.frames) horizon = planned_.how.horizon;
    if (runs.size() == 1 && !horizon) {
      run_options options;
      options.frames = request.frames;
      options.warmup = request.warmup;
      options.arrival_seed = runs.front().arrival_seed;
      options.stop = stop;
      records.push_back(runs.front().session->run(options));
      return records;
    }
    allowance_.give(configuration, runs, horizon);
    for (auto& run : runs) {
      if (run.foreground && request.frames) run.frames = request.frames;
      run.warmup = request.warmup;
    }
    records = run_at_once(runs, stop, planned_.how.share, horizon);
    allowance_.learn(configuration, runs, records);
    return records;
  }

  /// Prepares the runs. Members on a schedule, or else the first member, are the foreground.
  std::vector<concurrent_run> ready(std::size_t configuration, const trial_request& request,
                                    const stop_request* stop) {
    const auto& names = planned_.configurations[configuration].what.members;
    std::vector<concurrent_run> runs;
    for (session* const s : pool_.take(configuration, stop)) {
      const auto& name = names[runs.size()];
      const settings& run = s->planned().run;
      // The seed includes the name, so that members with the same pipeline have different arrivals.
      runs.push_back(
          {.name = name,
           .session = s,
           .foreground = run.arrival != arrival::closed,
           .rate = run.rate,
           .arrival_seed = mix_seed(mix_seed(run.seed, request.number), seed_from(name))});
      const auto rate = rate_of(s->planned());
      if (rate && request.rate_factor) runs.back().rate = *rate * *request.rate_factor;
    }
    if (std::ranges::none_of(runs, &concurrent_run::foreground)) runs.front().foreground = true;
    return runs;
  }

  const experiment_plan& planned_;
  session_pool pool_;
  frame_allowance allowance_;
};

}  // namespace

std::optional<double> rate_of(const plan& p) {
  if (p.run.rate || p.arrivals == nullptr || p.arrivals->mean_gap <= 0) return p.run.rate;
  return 1e9 * static_cast<double>(p.run.burst) / p.arrivals->mean_gap;
}

std::unique_ptr<trial_runner> make_trial_runner(const experiment_plan& planned,
                                                device_source devices,
                                                std::uint64_t memory_budget) {
  return std::make_unique<local_trial_runner>(planned, std::move(devices), memory_budget);
}

}  // namespace graphline
