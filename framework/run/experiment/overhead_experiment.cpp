#include "framework/run/experiment/overhead_experiment.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include "framework/base/random.hpp"
#include "framework/run/execute/machine_watch.hpp"

namespace graphline {
namespace {

std::int64_t frames_for_a_quarter_second(const run_record& warmup) {
  if (warmup.frames.empty()) return 3;
  const auto& first = warmup.frames.front();
  const auto& last = warmup.frames.back();
  const auto frame = std::max<nanoseconds>(
      1, (last.end - first.begin) / static_cast<nanoseconds>(warmup.frames.size()));
  return std::clamp<std::int64_t>(250'000'000 / frame, 3, 45);
}

/// Until all have run, or one was stopped or has failed.
void run_trials(session& s, const overhead_options& options, run_options trial,
                overhead_record& result) {
  std::mt19937_64 generator(options.order_seed);
  const auto total = options.blocks * static_cast<std::int64_t>(result.methods.size());
  for (std::int64_t block = 0; block < options.blocks; ++block) {
    auto order = result.methods;
    shuffle(order, generator);
    for (const timing_method method : order) {
      trial.timing = method;
      result.trials.push_back({static_cast<std::size_t>(block), s.run(trial)});
      const run_record& record = result.trials.back().record;
      result.interrupted = record.interrupted;
      if (record.interrupted || record.failure) return;
      if (options.on_progress) {
        options.on_progress({false, static_cast<std::int64_t>(result.trials.size()), total});
      }
    }
  }
}

}  // namespace

overhead_record run_overhead(session& s, const overhead_options& options) {
  overhead_record result;
  result.order_seed = options.order_seed;
  result.methods = s.timing_methods();

  // Warm the machine up once; each trial then only has a frame to settle.
  run_options warmup;
  warmup.timing = timing_method::none;
  warmup.warmup = 0;
  warmup.frames = std::max<std::int64_t>(1, s.planned().run.warmup);
  warmup.stop = options.stop;
  run_record warm = s.run(warmup);
  result.interrupted = warm.interrupted;
  if (warm.failure) result.trials.push_back({0, warm});  // which is where it is told
  if (warm.interrupted || warm.failure) return result;

  run_options trial;
  trial.warmup = 1;
  trial.frames =
      options.frames_per_trial > 0 ? options.frames_per_trial : frames_for_a_quarter_second(warm);
  trial.stop = options.stop;
  machine_watch machine = s.watch_machine(options.at_machine);
  run_trials(s, options, trial, result);
  result.conditions = machine.end();
  return result;
}

}  // namespace graphline
