#include "framework/campaign/predict/predictor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <span>

#include "framework/analysis/run/disturbance.hpp"
#include "framework/base/random.hpp"
#include "framework/spec/settings_table.hpp"

namespace graphline {
namespace {

/// Returns frames for a run of `frames` frames in which each source, in order, has an equal part.
std::vector<std::uint32_t> frames_in_turn(std::span<const std::size_t> counts, std::size_t frames) {
  std::vector<std::uint32_t> order;
  std::size_t first = 0;
  for (std::size_t source = 0; source < counts.size(); ++source) {
    const std::size_t until = frames * (source + 1) / counts.size();
    for (std::size_t i = 0; order.size() < until; ++i) {
      order.push_back(static_cast<std::uint32_t>(first + i % counts[source]));
    }
    first += counts[source];
  }
  return order;
}

/// Draws frames for a run of `frames` frames: blocks of a source of `count` frames that begin at
/// frame `begin`, drawn from as many blocks as the source has, which are drawn from all its blocks.
/// Blocks wrap around at the source's end.
std::vector<std::uint32_t> draw_frames(std::size_t begin, std::size_t count, std::size_t frames,
                                       std::size_t block, std::mt19937_64& random) {
  std::vector<std::size_t> firsts((count + block - 1) / block);
  for (std::size_t& first : firsts) first = random() % count;
  std::vector<std::uint32_t> drawn;
  drawn.reserve(frames);
  while (drawn.size() < frames) {
    const std::size_t first = firsts[random() % firsts.size()];
    for (std::size_t i = 0; i < block && drawn.size() < frames; ++i) {
      drawn.push_back(static_cast<std::uint32_t>(begin + (first + i) % count));
    }
  }
  return drawn;
}

/// Returns the plan with settings that have a meaning in virtual time.
plan in_virtual_time(plan p) {
  p.run.timing = timing_method::event;
  p.run.max_time.reset();
  return p;
}

/// Returns the number of CPU stages that can run concurrently.
int cores_for(const plan& p, const run_record& source, const prediction_options& options) {
  const int cores = options.cores.value_or(std::max(1, source.cpu_cores));
  if (p.run.workers == 0 || !has_workers(p.run)) return cores;
  const int workers = static_cast<int>(p.run.workers);
  return options.cores ? std::min(workers, cores) : workers;
}

prediction_record origin_of(const std::vector<prediction_source>& sources, std::size_t frames,
                            const prediction_options& options) {
  const run_record& first = sources.front().run;
  const source_overheads overheads = overheads_of(sources);
  prediction_record made;
  for (const prediction_source& source : sources) made.sources.push_back(source.name);
  made.source_run = first.run;
  made.source_cores = first.cpu_cores;
  made.source_frames = static_cast<std::int64_t>(frames);
  made.completion_delay = overheads.completion_delay;
  made.wake_up = overheads.wake_up;
  made.device_start = overheads.device_start;
  made.device_restart = overheads.device_restart;
  for (const auto& [stage, factor] : options.scale) {
    made.scaled.emplace_back(stage, fmt::format("{:g}", factor));
  }
  return made;
}

/// @throws input_error if the plan has several ranks
const plan& on_one_rank(const plan& p) {
  if (p.ranks > 1) {
    throw input_error(fmt::format(
        "pipeline '{}' has stages on {} ranks; predictions support one rank, so run it instead",
        p.pipeline, p.ranks));
  }
  return p;
}

std::vector<device_properties> devices_of(const run_record& source) {
  std::vector<device_properties> all;
  for (const device_record& each : source.devices) all.push_back(each.properties);
  if (all.empty()) all.push_back(source.device);
  return all;
}

}  // namespace

predictor::predictor(const plan& p, const std::vector<prediction_source>& sources,
                     const prediction_options& options)
    : times_(on_one_rank(p), sources, options),
      origin_(origin_of(sources, times_.count(), options)),
      environment_(sources.front().run.environment),
      cores_(cores_for(p, sources.front().run, options)),
      session_(in_virtual_time(p), {.devices = devices_of(sources.front().run),
                                    .cores = cores_,
                                    .wake_up = origin_.wake_up,
                                    .completion_delay = origin_.completion_delay,
                                    .device_start = origin_.device_start,
                                    .device_restart = origin_.device_restart,
                                    .long_idle = long_idle}) {}

run_record predictor::run(const std::vector<std::uint32_t>& order,
                          const virtual_run_options& options, std::optional<std::size_t> faster) {
  run_record record = session_.run(times_.replay(order, faster), options);
  record.environment = environment_;
  return record;
}

run_record predictor::in_turn(std::optional<std::size_t> faster) {
  const auto frames = static_cast<std::size_t>(session_.planned().run.frames);
  return run(frames_in_turn(times_.counts(), frames), {}, faster);
}

run_record predictor::replicate(std::uint64_t number, const virtual_run_options& options,
                                std::optional<std::size_t> block_length) {
  const settings& planned = session_.planned().run;
  const std::uint64_t seed = mix_seed(planned.seed, number);
  std::mt19937_64 random(seed);
  const auto& counts = times_.counts();
  const std::size_t source = source_of(number);
  const auto begin = std::accumulate(
      counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(source), std::size_t{0});
  const auto frames = static_cast<std::size_t>(options.frames.value_or(planned.frames));
  const auto order = draw_frames(begin, counts[source], frames,
                                 block_length.value_or(times_.block_length()), random);
  virtual_run_options drawn = options;
  if (!drawn.arrival_seed) drawn.arrival_seed = mix_seed(seed, 1);
  return run(order, drawn);
}

std::vector<std::string> changed_sources(const plan& p,
                                         const std::vector<prediction_source>& sources) {
  std::vector<std::string> warnings;
  for (const auto& [name, run] : sources) {
    const bool same_file = !p.source || !run.source || p.source->text() == run.source->text;
    if (same_file && p.parameters == run.parameters) continue;
    warnings.push_back(
        fmt::format("{} was measured with {}; its stage times are used as they are", name,
                    same_file ? "other parameters" : "another version of the pipeline's file"));
  }
  return warnings;
}

std::vector<std::string> disturbed_sources(const std::vector<prediction_source>& sources) {
  std::vector<std::string> warnings;
  for (const prediction_source& source : sources) {
    if (!source.run.conditions) continue;
    const auto disturbances = disturbances_of(*source.run.conditions);
    if (disturbances.empty()) continue;
    warnings.push_back(
        fmt::format("{} was disturbed ({}), so its stage times may be too long; measure it again "
                    "on an idle machine",
                    source.name, fmt::join(disturbances, "; ")));
  }
  return warnings;
}

}  // namespace graphline
