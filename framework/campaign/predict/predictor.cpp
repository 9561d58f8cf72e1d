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

/// Refuses a source that was recorded on other devices than the plan has.
void check_devices(const plan& p, const prediction_source& source) {
  const auto there = devices_of(source.run);
  const auto named = [](const auto& devices) {
    std::vector<std::string_view> list;
    for (const auto& each : devices) {
      if (!each.name.empty()) list.push_back(each.name);
    }
    return list;
  };
  const auto in_words = [](const std::vector<std::string_view>& list) {
    return list.empty() ? "one that is not declared" : fmt::format("{}", fmt::join(list, ", "));
  };
  if (named(there) != named(p.devices)) {
    refuse_source(p, source,
                  fmt::format("its devices are {}, those of the pipeline are {}; measure the "
                              "pipeline again",
                              in_words(named(there)), in_words(named(p.devices))));
  }
  for (std::size_t d = 0; d < there.size(); ++d) {
    const planned_device& here = p.devices[d];
    if (here.name.empty()) continue;
    const device_properties& was = there[d].properties;
    if (!here.backend.empty() && here.backend != was.backend) {
      refuse_source(p, source,
                    fmt::format("device '{}' was {} there, but is {} in the pipeline; measure the "
                                "pipeline again",
                                here.name, was.backend, here.backend));
    }
    const std::int64_t threads =
        here.backend == "host" && here.threads == 0 ? p.run.threads : here.threads;
    if (threads > 0 && threads != was.compute_threads) {
      refuse_source(p, source,
                    fmt::format("device '{}' had {} thread{} there, but has {} in the pipeline; "
                                "measure the pipeline again",
                                here.name, was.compute_threads, was.compute_threads == 1 ? "" : "s",
                                threads));
    }
  }
}

/// Refuses a source in which a stage ran on a device with other times.
void check_placement(const plan& p, const prediction_source& source) {
  const auto devices = devices_of(source.run);
  for (const planned_stage& stage : p.stages) {
    const auto known = std::ranges::find(source.run.stages, stage.name, &stage_record::name);
    if (known == source.run.stages.end()) continue;
    if (stage.on == side::cpu || known->on == side::cpu) continue;
    const device_record& there = devices[known->device_index];
    const device_record& here = devices[stage.device];
    if (runs_alike(there.properties, here.properties)) continue;
    refuse_source(p, source,
                  fmt::format("stage '{}' ran on device '{}' there, and '{}' has other times; "
                              "measure this placement",
                              stage.name, there.name, here.name));
  }
}

/// Returns the plan if its runs can be predicted.
/// @throws input_error if it has several ranks, or other devices than a source
const plan& predictable(const plan& p, const std::vector<prediction_source>& sources) {
  if (p.ranks > 1) {
    throw input_error(fmt::format(
        "pipeline '{}' has stages on {} ranks; predictions support one rank, so run it instead",
        p.pipeline, p.ranks));
  }
  for (const prediction_source& source : sources) {
    check_devices(p, source);
    check_placement(p, source);
  }
  return p;
}

std::vector<device_properties> properties_of_devices(const run_record& source) {
  std::vector<device_properties> all;
  for (const device_record& each : devices_of(source)) all.push_back(each.properties);
  return all;
}

}  // namespace

predictor::predictor(const plan& p, const std::vector<prediction_source>& sources,
                     const prediction_options& options)
    : times_(predictable(p, sources), sources, options),
      origin_(origin_of(sources, times_.count(), options)),
      environment_(sources.front().run.environment),
      cores_(cores_for(p, sources.front().run, options)),
      session_(in_virtual_time(p), {.devices = properties_of_devices(sources.front().run),
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
