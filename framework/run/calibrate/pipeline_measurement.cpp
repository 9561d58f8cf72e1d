#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "framework/base/diagnostic.hpp"
#include "framework/base/error.hpp"
#include "framework/base/units.hpp"
#include "framework/plan/planner.hpp"
#include "framework/run/calibrate/ceiling_measurement.hpp"
#include "framework/run/execute/session.hpp"

namespace graphline {
namespace {

/// The layer of a network that is measured.
constexpr const char* measured_layer = "measured";

std::int64_t floats_in(std::size_t bytes) {
  return std::max<std::int64_t>(static_cast<std::int64_t>(bytes / sizeof(float)), 1);
}

/// One stage after the other, each by itself.
pipeline_spec empty_pipeline(const char* name, timing_method timing) {
  pipeline_spec spec;
  spec.name = {name};
  spec.run.strategy = strategy::serial;
  spec.run.timing = timing;
  spec.run.warmup = 1;
  return spec;
}

stage_spec stage_of(const char* name, const char* kind, const char* reads, const char* writes) {
  return {.name = {name}, .kind = {kind}, .reads = {{reads}}, .writes = {{writes}}};
}

stage_spec traffic(const char* name, const char* method, const char* reads, const char* writes) {
  stage_spec stage = stage_of(name, "traffic", reads, writes);
  stage.parameters = node::mapping({{{"method"}, method}});
  return stage;
}

using members = std::vector<node::member>;

node layer(const char* kind, members parameters) {
  return node::mapping({{{kind}, node::mapping(std::move(parameters))}});
}

ceiling_pipeline network_pipeline(const char* name, ceiling what, precision p, const shape& input,
                                  std::vector<node> layers, std::string how) {
  ceiling_pipeline made;
  made.name = fmt::format("{} in {}", name, to_word(p));
  made.arithmetic = p;
  made.spec = empty_pipeline(name, timing_method::layers);
  made.spec.inputs = {{.name = {"input"}, .type = {input, dtype::float32}}};
  stage_spec stage = stage_of(name, "network", "input", "output");
  stage.parameters = node::mapping({{{"layers"}, node::sequence(std::move(layers))},
                                    {{"precision"}, std::string(to_word(p))},
                                    {{"tune"}, true}});
  made.spec.stages = {std::move(stage)};
  made.measured = {{what, name, measured_layer, std::move(how)}};
  return made;
}

}  // namespace

ceiling_pipeline memory_pipeline(const calibration_sizes& sizes) {
  ceiling_pipeline made;
  made.name = "memory";
  made.spec = empty_pipeline("memory", timing_method::event);
  const std::int64_t count = floats_in(sizes.memory_bytes);
  made.spec.inputs = {
      {.name = {"input"}, .type = {shape{count}, dtype::float32}, .fill = fill::uniform}};
  // The last one reads what was written, since what nobody reads is an output, which is checked
  // after each run.
  made.spec.stages = {
      traffic("copy", "copy", "input", "copied"), traffic("read", "read", "copied", "sum"),
      traffic("write", "write", "copied", "written"), traffic("reader", "read", "written", "zero")};
  const std::string amount = format_bytes(static_cast<std::uint64_t>(count) * sizeof(float));
  made.measured = {{ceiling::read, "read", {}, amount + " read"},
                   {ceiling::write, "write", {}, amount + " written"},
                   {ceiling::copy, "copy", {}, amount + " read and written"}};
  return made;
}

ceiling_pipeline transfer_pipeline(const calibration_sizes& sizes) {
  ceiling_pipeline made;
  made.name = "transfers of pinned memory";
  made.spec = empty_pipeline("transfers", timing_method::event);
  const std::int64_t count = floats_in(sizes.transfer_bytes);
  made.spec.inputs = {{.name = {"input"},
                       .type = {shape{count}, dtype::float32},
                       .fill = fill::uniform,
                       .on = side::cpu}};
  // Read in the end, since what nobody reads is an output, which is checked after each run.
  stage_spec reader{.name = {"reader"}, .kind = {"cpu.spin"}, .reads = {{"returned"}}};
  reader.parameters = node::mapping({{{"duration"}, "0ms"}});
  made.spec.stages = {stage_of("to_device", "copy", "input", "there"),
                      stage_of("to_host", "copy", "there", "returned"), std::move(reader)};
  const std::string how = format_bytes(static_cast<std::uint64_t>(count) * sizeof(float)) +
                          " by the stage that moves tensors";
  made.measured = {{ceiling::host_to_device_pinned, "to_device", {}, how},
                   {ceiling::device_to_host_pinned, "to_host", {}, how}};
  return made;
}

ceiling_pipeline convolution_pipeline(const calibration_sizes& sizes, precision p) {
  constexpr std::int64_t few = 8;  // channels: a multiple that every library takes
  const auto small = [](std::int64_t channels) {
    return layer("conv2d", {{{"out_channels"}, channels}, {{"kernel"}, 1}, {{"bias"}, false}});
  };
  const std::int64_t side = std::max<std::int64_t>(sizes.side, 1);
  return network_pipeline(
      "convolution", ceiling::convolution, p, {1, few, side, side},
      {small(sizes.channels),
       layer("conv2d", {{{"name"}, measured_layer},
                        {{"out_channels"}, sizes.channels},
                        {{"kernel"}, 5},
                        {{"padding"}, 2},
                        {{"bias"}, false}}),
       small(few)},
      fmt::format("{0} to {0} channels, 5x5, on [1, {0}, {1}, {1}]", sizes.channels, side));
}

ceiling_pipeline matmul_pipeline(const calibration_sizes& sizes, precision p) {
  constexpr std::int64_t few = 64;
  const auto product = [](std::int64_t features, members more) {
    more.push_back({{"out_features"}, features});
    more.push_back({{"bias"}, false});
    return layer("linear", std::move(more));
  };
  const std::int64_t n = std::max<std::int64_t>(sizes.matrix, 1);
  return network_pipeline(
      "matmul", ceiling::matmul, p, {n, few},
      {product(n, {}), product(n, {{{"name"}, measured_layer}}), product(few, {})},
      fmt::format("[{0}, {0}] times [{0}, {0}]", n));
}

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

class pipeline_measurement final : public ceiling_measurement {
 public:
  pipeline_measurement(ceiling_pipeline pipeline, const calibration_sizes& sizes,
                       const stage_registry& kinds, device& d, const stop_request* stop)
      : ceiling_measurement(pipeline.name),
        pipeline_(std::move(pipeline)),
        sizes_(sizes),
        session_(planned(pipeline_.spec, kinds, d), d, stop) {
    for (const measured_stage& m : pipeline_.measured) {
      ceilings_.push_back({m.what, pipeline_.arithmetic, m.how, 0, {}});
    }
    describe(run(1, stop));
  }

  void add_samples(const stop_request* stop) override {
    const run_record record = run(frames_, stop);
    for (std::size_t i = 0; i < ceilings_.size(); ++i) {
      const measured_stage& m = pipeline_.measured[i];
      const stage_record& stage = stage_named(record, m.stage);
      const auto times = m.part ? device_times(part_named(stage, *m.part)) : device_times(stage);
      ceilings_[i].times.insert(ceilings_[i].times.end(), times.begin(), times.end());
    }
  }

 private:
  /// Frames after a warm-up; decides how many the next run has.
  run_record run(std::int64_t frames, const stop_request* stop) {
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

  void describe(const run_record& record) {
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

  ceiling_pipeline pipeline_;
  calibration_sizes sizes_;
  session session_;
  std::int64_t frames_ = 1;  ///< of the next run that measures
};

}  // namespace

std::unique_ptr<ceiling_measurement> measure_pipeline(ceiling_pipeline pipeline,
                                                      const calibration_sizes& sizes,
                                                      const stage_registry& kinds, device& d,
                                                      const stop_request* stop) {
  return std::make_unique<pipeline_measurement>(std::move(pipeline), sizes, kinds, d, stop);
}

}  // namespace graphline
