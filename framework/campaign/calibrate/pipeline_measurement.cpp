#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "framework/base/diagnostic.hpp"
#include "framework/base/error.hpp"
#include "framework/base/units.hpp"
#include "framework/campaign/calibrate/calibration.hpp"
#include "framework/plan/planner.hpp"
#include "framework/run/execute/session.hpp"
#include "framework/spec/pipeline_reader.hpp"

namespace graphline {
namespace {

/// The measured layer of a network.
constexpr const char* measured_layer = "measured";

std::int64_t floats_in(std::size_t bytes) {
  return std::max<std::int64_t>(static_cast<std::int64_t>(bytes / sizeof(float)), 1);
}

pipeline_spec spec_of(const std::string& name, std::string text) {
  diagnostics found;
  auto spec = read_pipeline(std::make_shared<source_text>(name, std::move(text)), {}, found);
  found.throw_if_errors();
  return spec;
}

/// `layers`: one per line.
ceiling_pipeline network_pipeline(const char* name, ceiling what, precision p, std::string how,
                                  const std::string& input, const std::string& layers) {
  constexpr auto text = R"(pipeline: {0}
inputs: {{input: {{shape: {2}}}}}
stages:
  - name: {0}
    kind: network
    reads: input
    writes: output
    precision: {1}
    tune: true
    layers:
{3}
run: {{strategy: serial, timing: layers, warmup: 1}}
)";
  const std::string full_name = fmt::format("{} in {}", name, to_word(p));
  return {full_name,
          p,
          spec_of(full_name, fmt::format(text, name, to_word(p), input, layers)),
          {{what, name, measured_layer, std::move(how)}}};
}

}  // namespace

ceiling_pipeline memory_pipeline(const calibration_sizes& sizes) {
  // The last stage reads what was written: otherwise it would be an output, and checked after each
  // run.
  constexpr auto text = R"(pipeline: memory
inputs: {{input: {{shape: {}, fill: uniform}}}}
stages:
  - {{name: copy, kind: traffic, method: copy, reads: input, writes: copied}}
  - {{name: read, kind: traffic, method: read, reads: copied, writes: sum}}
  - {{name: write, kind: traffic, method: write, reads: copied, writes: written}}
  - {{name: reader, kind: traffic, method: read, reads: written, writes: zero}}
run: {{strategy: serial, timing: event, warmup: 1}}
)";
  const std::int64_t count = floats_in(sizes.memory_bytes);
  const std::string amount = format_bytes(static_cast<std::uint64_t>(count) * sizeof(float));
  return {"memory",
          precision::float32,
          spec_of("memory", fmt::format(text, count)),
          {{ceiling::read, "read", {}, amount + " read"},
           {ceiling::write, "write", {}, amount + " written"},
           {ceiling::copy, "copy", {}, amount + " read and written"}}};
}

ceiling_pipeline transfer_pipeline(const calibration_sizes& sizes) {
  // The last stage reads the result: otherwise it would be an output, and checked after each run.
  constexpr auto text = R"(pipeline: transfers
inputs: {{input: {{shape: {}, fill: uniform, on: cpu}}}}
stages:
  - {{name: to_device, kind: copy, reads: input, writes: there}}
  - {{name: to_host, kind: copy, reads: there, writes: returned}}
  - {{name: reader, kind: cpu.spin, reads: returned, duration: 0ms}}
run: {{strategy: serial, timing: event, warmup: 1}}
)";
  const std::int64_t count = floats_in(sizes.transfer_bytes);
  const std::string how = format_bytes(static_cast<std::uint64_t>(count) * sizeof(float)) +
                          " by the stage that moves tensors";
  return {"transfers of pinned memory",
          precision::float32,
          spec_of("transfers", fmt::format(text, count)),
          {{ceiling::host_to_device_pinned, "to_device", {}, how},
           {ceiling::device_to_host_pinned, "to_host", {}, how}}};
}

ceiling_pipeline convolution_pipeline(const calibration_sizes& sizes, precision p) {
  constexpr int few = 8;  // channels; every library supports multiples of it
  constexpr auto layers =
      R"(      - conv2d: {{out_channels: {0}, kernel: 1, bias: false}}
      - conv2d: {{name: {1}, out_channels: {0}, kernel: 5, padding: 2, bias: false}}
      - conv2d: {{out_channels: {2}, kernel: 1, bias: false}})";
  const std::int64_t side = std::max<std::int64_t>(sizes.side, 1);
  return network_pipeline(
      "convolution", ceiling::convolution, p,
      fmt::format("{0} to {0} channels, 5x5, on [1, {0}, {1}, {1}]", sizes.channels, side),
      fmt::format("[1, {0}, {1}, {1}]", few, side),
      fmt::format(layers, sizes.channels, measured_layer, few));
}

ceiling_pipeline matmul_pipeline(const calibration_sizes& sizes, precision p) {
  constexpr int few = 64;
  constexpr auto layers = R"(      - linear: {{out_features: {0}, bias: false}}
      - linear: {{name: {1}, out_features: {0}, bias: false}}
      - linear: {{out_features: {2}, bias: false}})";
  const std::int64_t n = std::max<std::int64_t>(sizes.matrix, 1);
  return network_pipeline(
      "matmul", ceiling::matmul, p, fmt::format("[{0}, {0}] times [{0}, {0}]", n),
      fmt::format("[{}, {}]", n, few), fmt::format(layers, n, measured_layer, few));
}

namespace {

constexpr std::int64_t least_frames = 3;

plan planned(const pipeline_spec& spec, const stage_registry& kinds, const device& d) {
  diagnostics found;
  const device_properties& on = d.properties();
  plan made =
      make_plan(spec, kinds,
                {.backend = on.backend, .device_memory_bytes = on.memory_bytes.value_or(0)}, found);
  found.throw_if_errors();
  return made;
}

const stage_record& stage_named(const run_record& record, const std::string& name) {
  const auto found = std::ranges::find(record.stages, name, &stage_record::name);
  if (found == record.stages.end()) throw std::logic_error("no stage '" + name + "'");
  return *found;
}

/// A part by name; layers that were fused into it follow its name with a plus.
const part_record& part_named(const stage_record& stage, const std::string& name) {
  for (const part_record& part : stage.parts) {
    if (part.name == name || part.name.starts_with(name + "+")) return part;
  }
  throw run_error(fmt::format("stage '{}' ({}) does not time its layer '{}' separately", stage.name,
                              stage.kind, name));
}

/// The work of one frame, in bytes or FLOPs by the ceiling's unit.
std::optional<double> amount_of(ceiling what, const cost_record& cost) {
  if (unit_of(what) == unit::flops_per_second) return cost.flops;
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
  /// Runs frames after a warm-up, and sets the number of frames of the next run.
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
            fmt::format("stage '{}' ({}) does not report its cost", stage.name, stage.kind));
      }
      ceilings_[i].amount = *amount;
      if (part != nullptr) ceilings_[i].how += "; " + part->choice;
    }
  }

  ceiling_pipeline pipeline_;
  calibration_sizes sizes_;
  session session_;
  std::int64_t frames_ = 1;  ///< of the next measured run
};

}  // namespace

std::unique_ptr<ceiling_measurement> measure_pipeline(ceiling_pipeline pipeline,
                                                      const calibration_sizes& sizes,
                                                      const stage_registry& kinds, device& d,
                                                      const stop_request* stop) {
  return std::make_unique<pipeline_measurement>(std::move(pipeline), sizes, kinds, d, stop);
}

}  // namespace graphline
