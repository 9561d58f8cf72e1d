#include "framework/run/experiment/trial_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/random.hpp"
#include "framework/run/execute/concurrent_runs.hpp"
#include "framework/run/execute/frame_allowance.hpp"
#include "framework/run/experiment/session_pool.hpp"

namespace graphline {
namespace {

class local_trial_runner final : public trial_runner {
 public:
  local_trial_runner(const experiment_plan& planned, device_source devices, std::uint64_t budget)
      : planned_(planned), pool_(planned, std::move(devices), budget) {}

  std::vector<run_record> run(std::size_t configuration, const trial_request& request,
                              const stop_request* stop) override {
    const std::string& name = planned_.configurations.at(configuration).what.name;
    try {
      auto records = run_members(configuration, request, stop);
      for (auto& record : records) record.source.reset();  // the experiment has it, once
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
    auto runs = ready(configuration, request.number, stop);
    std::vector<run_record> records;
    if (runs.size() == 1) {
      run_options options;
      options.frames = request.frames;
      options.warmup = request.warmup;
      options.arrival_seed = runs.front().arrival_seed;
      options.stop = stop;
      records.push_back(runs.front().session->run(options));
      return records;
    }
    allowance_.give(configuration, runs, stop);
    for (auto& run : runs) {
      if (run.leads && request.frames) run.frames = request.frames;
      run.warmup = request.warmup;
    }
    records = run_at_once(runs, stop);
    const bool whole = std::ranges::none_of(
        records, [](const auto& record) { return record.interrupted || record.failure; });
    // A shorter trial says little about how many frames a whole one takes.
    if (whole && !request.frames) allowance_.learn(configuration, runs, records);
    return records;
  }

  /// Members whose frames come on a schedule lead; where none's do, the first.
  std::vector<concurrent_run> ready(std::size_t configuration, std::uint64_t number,
                                    const stop_request* stop) {
    const auto& names = planned_.configurations[configuration].what.members;
    std::vector<concurrent_run> runs;
    for (const auto& [s, on] : pool_.take(configuration, stop)) {
      const auto& name = names[runs.size()];
      const settings& run = s->planned().run;
      // By the member too: several may be of one pipeline, and have arrivals of their own.
      runs.push_back({.name = name,
                      .session = s,
                      .on = on,
                      .leads = run.arrival != arrival::closed,
                      .arrival_seed = mix_seed(mix_seed(run.seed, number), seed_from(name))});
    }
    if (std::ranges::none_of(runs, &concurrent_run::leads)) runs.front().leads = true;
    return runs;
  }

  const experiment_plan& planned_;
  session_pool pool_;
  frame_allowance allowance_;
};

}  // namespace

std::unique_ptr<trial_runner> make_trial_runner(const experiment_plan& planned,
                                                device_source devices,
                                                std::uint64_t memory_budget) {
  return std::make_unique<local_trial_runner>(planned, std::move(devices), memory_budget);
}

}  // namespace graphline
