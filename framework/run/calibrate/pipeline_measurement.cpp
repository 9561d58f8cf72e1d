#include "framework/run/calibrate/pipeline_measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "framework/base/diagnostic.hpp"
#include "framework/base/error.hpp"
#include "framework/plan/planner.hpp"

namespace graphline {
namespace {

constexpr std::int64_t least_frames = 3;

plan planned(const pipeline_spec& spec, const stage_registry& kinds, const device& d) {
  diagnostics found;
  const device_properties& on = d.properties();
  plan made = make_plan(spec, kinds,
                        {.backend = on.backend, .device_memory_bytes = on.memory_bytes}, found);
  found.throw_if_errors();
  return made;
}

const stage_record& stage_named(const run_record& record, const std::string& name) {
  const auto found = std::ranges::find(record.stages, name, &stage_record::name);
  if (found == record.stages.end()) throw std::logic_error("no stage '" + name + "'");
  return *found;
}

/// A part by its name; layers that were fused into it follow that with a plus.
const part_record& part_named(const stage_record& stage, const std::string& name) {
  for (const part_record& part : stage.parts) {
    if (part.name == name || part.name.starts_with(name + "+")) return part;
  }
  throw run_error(fmt::format("stage '{}' ({}) does not tell its layer '{}' apart", stage.name,
                              stage.kind, name));
}

/// What one frame of it amounts to, by the ceiling's unit.
std::optional<double> amount_of(ceiling what, const cost_record& cost) {
  if (unit_of(what) == ceiling_unit::rate) return cost.flops;
  if (!cost.bytes_read || !cost.bytes_written) return std::nullopt;
  const bool in_memory = what <= ceiling::copy;  // a transfer counts each byte once
  return static_cast<double>(*cost.bytes_read + (in_memory ? *cost.bytes_written : 0));
}

}  // namespace

pipeline_measurement::pipeline_measurement(ceiling_pipeline pipeline,
                                           const calibration_sizes& sizes,
                                           const stage_registry& kinds, device& d,
                                           const stop_request* stop)
    : pipeline_(std::move(pipeline)),
      sizes_(sizes),
      session_(planned(pipeline_.spec, kinds, d), d, stop) {
  for (const measured_stage& m : pipeline_.measured) {
    ceilings_.push_back({m.what, pipeline_.arithmetic, m.how, 0, {}});
  }
  describe(run(1, stop));
}

void pipeline_measurement::add_samples(const stop_request* stop) {
  keep(run(frames_, stop));
}

run_record pipeline_measurement::run(std::int64_t frames, const stop_request* stop) {
  run_options options;
  options.frames = frames;
  options.stop = stop;
  run_record record = session_.run(options);
  if (record.failure) throw run_error(*record.failure);
  if (!record.frames.empty()) {
    const frame_record& last = record.frames.back();
    const nanoseconds each = std::max<nanoseconds>(last.end - last.begin, 1);
    frames_ = std::clamp(sizes_.time_each / each, std::min(least_frames, sizes_.most_samples),
                         sizes_.most_samples);
  }
  return record;
}

void pipeline_measurement::describe(const run_record& record) {
  environment_ = record.environment;
  for (std::size_t i = 0; i < ceilings_.size(); ++i) {
    const measured_stage& m = pipeline_.measured[i];
    const stage_record& stage = stage_named(record, m.stage);
    const part_record* part = nullptr;
    if (m.part) {
      part = &part_named(stage, *m.part);
    } else if (stage.parts.size() == 1) {
      part = &stage.parts.front();
    }
    const auto amount = amount_of(m.what, part != nullptr ? part->cost : stage.cost);
    if (!amount) {
      throw run_error(
          fmt::format("stage '{}' ({}) does not state its cost", stage.name, stage.kind));
    }
    ceilings_[i].amount = *amount;
    if (part != nullptr) ceilings_[i].how += "; " + part->choice;
  }
}

void pipeline_measurement::keep(const run_record& record) {
  for (std::size_t i = 0; i < ceilings_.size(); ++i) {
    const measured_stage& m = pipeline_.measured[i];
    const stage_record& stage = stage_named(record, m.stage);
    const auto times = m.part ? device_times(part_named(stage, *m.part)) : device_times(stage);
    ceilings_[i].times.insert(ceilings_[i].times.end(), times.begin(), times.end());
  }
}

}  // namespace graphline
