#include "framework/campaign/calibrate/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "framework/analysis/roofline/ceilings.hpp"
#include "framework/base/diagnostic.hpp"
#include "framework/base/error.hpp"
#include "framework/base/units.hpp"
#include "framework/plan/planner.hpp"
#include "framework/run/execute/environment.hpp"
#include "framework/run/execute/session.hpp"
#include "framework/run/execute/tensor_data.hpp"
#include "framework/spec/pipeline_reader.hpp"

namespace graphline {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// Ratio of device memory to tensor size, so that a calibration takes at most a quarter of the
/// memory. It needs 5.5 times the tensor size: three tensors and, on `host`, five transfer buffers
/// of half the size.
constexpr std::size_t tensors_in_memory = 22;

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

/// Makes a pipeline with one network.
/// @param layers YAML with one layer per line.
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

/// Has three stages: `copy`, `read` of the copy, and `write` of a third tensor of the same size.
ceiling_pipeline memory_pipeline(const calibration_sizes& sizes) {
  // The last stage reads the written tensor. Otherwise that tensor would be an output, which every
  // run checks.
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

/// Makes a pipeline that copies a tensor to the device and back, with pinned host memory.
ceiling_pipeline transfer_pipeline(const calibration_sizes& sizes) {
  // The last stage reads the result. Otherwise the result would be an output, which every run
  // checks.
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

}  // namespace

ceiling_pipeline convolution_pipeline(const calibration_sizes& sizes, precision p) {
  constexpr int few = 8;  // channels; every library supports multiples of 8
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

calibration_sizes sizes_for(const device_properties& device) {
  const bool gpu = device.backend != "host";
  calibration_sizes sizes;
  sizes.memory_bytes = (gpu ? 1024 : 512) * mebibyte;
  sizes.transfer_bytes = 256 * mebibyte;
  if (device.memory_bytes) {
    const auto most = static_cast<std::size_t>(*device.memory_bytes / tensors_in_memory);
    sizes.memory_bytes = std::min(sizes.memory_bytes, most);
    sizes.transfer_bytes = std::min(sizes.transfer_bytes, most / 2);
  }
  sizes.side = gpu ? 256 : 32;
  sizes.matrix = gpu ? 8192 : 2048;
  sizes.time_each = gpu ? 100'000'000 : 500'000'000;
  return sizes;
}

std::string doubt_of_caches(std::size_t bytes, const device_properties& device) {
  constexpr std::size_t enough = 128 * mebibyte;
  if (bytes >= enough) return {};
  return fmt::format(
      "for lack of memory{} bandwidths were measured on {}, which may fit into caches: they can be "
      "too high; calibrate again with {} free",
      device.memory_bytes ? fmt::format(" ({} in all)", format_bytes(*device.memory_bytes)) : "",
      format_bytes(bytes), format_bytes(tensors_in_memory * enough));
}

namespace {

/// A prepared, repeatable measurement of one or more ceilings.
class ceiling_measurement {
 public:
  virtual ~ceiling_measurement() = default;
  ceiling_measurement(const ceiling_measurement&) = delete;
  ceiling_measurement& operator=(const ceiling_measurement&) = delete;

  const std::string& name() const noexcept { return name_; }

  /// Warms up, then adds samples of each ceiling; stops early if `stop`, which may be null, is
  /// raised.
  /// @throws run_error if the device fails
  virtual void add_samples(const stop_request* stop) = 0;

  const std::vector<ceiling_record>& ceilings() const noexcept { return ceilings_; }

  /// Returns the names and versions of the libraries used.
  const std::vector<std::pair<std::string, std::string>>& environment() const noexcept {
    return environment_;
  }

 protected:
  explicit ceiling_measurement(std::string name) : name_(std::move(name)) {}

  std::vector<ceiling_record> ceilings_;
  std::vector<std::pair<std::string, std::string>> environment_;

 private:
  std::string name_;
};

/// Host costs of launching and waiting, measured by the host clock. Times many calls together,
/// because a single call can take less than a microsecond.
class driver_costs final : public ceiling_measurement {
 public:
  driver_costs(const calibration_sizes& sizes, device& d)
      : ceiling_measurement("costs of the host"),
        sizes_(sizes),
        device_(d),
        stream_(d.make_stream("costs of the host", priority::normal)),
        touched_(d.allocate(small_bytes)),
        seen_(d.make_event("end of a round trip", wait_mode::spin)),
        recorded_(d.make_timed_event("recorded")) {
    const auto fill = [&] { stream_->fill(touched_.data(), std::byte{1}, small_bytes); };
    small_ = d.capture(*stream_, fill)->instantiate();
    const auto calls = static_cast<double>(sizes.calls);
    const std::string graph = fmt::format("a graph that fills {} bytes", small_bytes);
    const std::string many = fmt::format("{} at a time", sizes.calls);
    ceilings_ = {
        {ceiling::launch, precision::float32, graph + ", " + many, calls, {}},
        {ceiling::event, precision::float32, "a timed event, " + many, calls, {}},
        {ceiling::synchronize, precision::float32, "an idle device, " + many, calls, {}},
        {ceiling::round_trip, precision::float32, graph + ", its end awaited by spin", 1, {}}};
  }

  void add_samples(const stop_request* stop) override {
    round_trip();
    const auto launch = [&] { stream_->launch(*small_); };
    const auto record = [&] { stream_->record(*recorded_); };
    const auto synchronize = [&] { device_.synchronize(wait_mode::spin); };
    for (std::int64_t i = 0; i < sizes_.most_samples; ++i) {
      if (stop != nullptr && stop->raised()) return;
      ceilings_[0].times.push_back(time_of(sizes_.calls, launch));
      ceilings_[1].times.push_back(time_of(sizes_.calls, record));
      ceilings_[2].times.push_back(time_of(sizes_.calls, synchronize));
      ceilings_[3].times.push_back(time_of(1, [&] { round_trip(); }));
    }
  }

 private:
  /// Times `calls` calls, then waits until the device is idle.
  nanoseconds time_of(std::int64_t calls, const std::function<void()>& call) {
    const nanoseconds begin = now();
    for (std::int64_t i = 0; i < calls; ++i) call();
    const nanoseconds time = now() - begin;
    device_.synchronize(wait_mode::block);
    return time;
  }

  void round_trip() {
    stream_->launch(*small_);
    stream_->record(*seen_);
    seen_->wait(wait_mode::spin);
  }

  static constexpr std::size_t small_bytes = 256;

  calibration_sizes sizes_;
  device& device_;
  std::unique_ptr<stream> stream_;
  memory touched_;
  std::unique_ptr<event> seen_;
  std::unique_ptr<timed_event> recorded_;
  std::unique_ptr<graph_exec> small_;
};

/// Bandwidths between a device and pageable memory. Graphs do not support these copies, so the host
/// clock times each copy until the host has seen it complete.
class pageable_transfers final : public ceiling_measurement {
 public:
  pageable_transfers(const calibration_sizes& sizes, device& d)
      : ceiling_measurement("transfers of pageable memory"),
        sizes_(sizes),
        device_(d),
        stream_(d.make_stream("pageable memory", priority::normal)),
        there_(d.allocate(std::max(sizes.transfer_bytes / sizeof(float), std::size_t{1}) *
                          sizeof(float))),
        here_(there_.bytes() / sizeof(float)) {
    const shape all{static_cast<std::int64_t>(here_.size())};
    fill_input({here_.data(), {all, dtype::float32}}, fill::uniform, 1);
    const auto how = fmt::format("{} at a time, by the host clock", format_bytes(there_.bytes()));
    for (const ceiling what :
         {ceiling::host_to_device_pageable, ceiling::device_to_host_pageable}) {
      ceilings_.push_back({what, precision::float32, how, static_cast<double>(there_.bytes()), {}});
    }
  }

  void add_samples(const stop_request* stop) override {
    copy(there_.data(), here_.data());
    nanoseconds together = 0;
    for (std::int64_t i = 0; i < sizes_.most_samples; ++i) {
      if (stop != nullptr && stop->raised()) return;
      if (i >= 3 && together >= sizes_.time_each) return;
      const nanoseconds sent = copy(there_.data(), here_.data());
      const nanoseconds returned = copy(here_.data(), there_.data());
      ceilings_[0].times.push_back(sent);
      ceilings_[1].times.push_back(returned);
      together += sent + returned;
    }
  }

 private:
  nanoseconds copy(void* to, const void* from) {
    const nanoseconds begin = now();
    stream_->copy(to, from, there_.bytes());
    device_.synchronize(wait_mode::block);
    return now() - begin;
  }

  calibration_sizes sizes_;
  device& device_;
  std::unique_ptr<stream> stream_;
  memory there_;
  std::vector<float> here_;
};

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

/// Finds a part by the name of its first layer. For fused layers, the other names follow after "+".
const part_record& part_named(const stage_record& stage, const std::string& name) {
  for (const part_record& part : stage.parts) {
    if (part.name == name || part.name.starts_with(name + "+")) return part;
  }
  throw run_error(fmt::format("stage '{}' ({}) does not time its layer '{}' separately", stage.name,
                              stage.kind, name));
}

/// Returns the work of one frame, in FLOPs or bytes like the ceiling; empty if unknown.
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
  /// Runs frames after a warm-up, and sets `frames_`.
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
  std::int64_t frames_ = 1;  ///< number of frames of the next measured run
};

/// Returns the CUDA compute capability; empty for devices that report none.
std::optional<double> capability_of(const device_properties& device) {
  for (const auto& [name, text] : device.details) {
    double value = 0;
    if (name != "compute capability") continue;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec == std::errc{}) return value;
  }
  return std::nullopt;
}

class calibration_run {
 public:
  calibration_run(const stage_registry& kinds, device& d, const calibration_options& options)
      : kinds_(kinds),
        device_(d),
        options_(options),
        sizes_(options.sizes.value_or(sizes_for(d.properties()))) {
    record_.device = d.properties();
    record_.environment = describe_environment();
  }

  calibration_record run() && {
    plan_all();
    prepare_all();
    total_ = done_ + sizes_.rounds * static_cast<std::int64_t>(ready_.size());
    for (std::int64_t round = 0; round < sizes_.rounds; ++round) {
      for (const auto& m : ready_) {
        if (stopped()) break;
        report_progress("measuring " + m->name());
        m->add_samples(options_.stop);
      }
    }
    move_ceilings_into_record();
    return std::move(record_);
  }

 private:
  struct wanted {
    std::string name;
    std::function<std::unique_ptr<ceiling_measurement>()> make;
  };

  void plan_all() {
    want(memory_pipeline(sizes_));
    want(transfer_pipeline(sizes_));
    wanted_.push_back({"transfers of pageable memory",
                       [this] { return std::make_unique<pageable_transfers>(sizes_, device_); }});
    for (const precision p : precisions()) {
      want(convolution_pipeline(sizes_, p));
      want(matmul_pipeline(sizes_, p));
    }
    wanted_.push_back(
        {"costs of the host", [this] { return std::make_unique<driver_costs>(sizes_, device_); }});
    total_ = static_cast<std::int64_t>(wanted_.size()) * (1 + sizes_.rounds);
  }

  void want(const ceiling_pipeline& pipeline) {
    wanted_.push_back({pipeline.name, [this, pipeline] {
                         return std::make_unique<pipeline_measurement>(pipeline, sizes_, kinds_,
                                                                       device_, options_.stop);
                       }});
  }

  /// Returns the precisions that the device supports. `host` always computes in float32.
  std::vector<precision> precisions() {
    const device_properties& on = device_.properties();
    if (on.backend == "host") return {precision::float32};
    std::vector<precision> all;
    const auto capability = capability_of(on);
    constexpr double with_bfloat16 = 8.0;
    for (const auto& [word, p] : precision_words) {
      const bool recent = p == precision::tf32 || p == precision::bfloat16;
      if (recent && capability && *capability < with_bfloat16) {
        record_.warnings.push_back(fmt::format(
            "{} was left out: compute capability {:.1f} does not support it", word, *capability));
        continue;
      }
      all.push_back(p);
    }
    return all;
  }

  void prepare_all() {
    for (const wanted& w : wanted_) {
      if (stopped()) return;
      report_progress("preparing " + w.name);
      prepare(w);
    }
  }

  /// Prepares a measurement, or adds a warning if that fails.
  void prepare(const wanted& w) {
    try {
      ready_.push_back(w.make());
    } catch (const interrupted_error&) {
      return;
    } catch (const error& e) {
      device_.synchronize(wait_mode::block);  // throws if the device has failed
      record_.warnings.push_back(fmt::format("{} was left out: {}", w.name, e.what()));
    }
  }

  bool stopped() {
    if (options_.stop != nullptr && options_.stop->raised()) record_.interrupted = true;
    return record_.interrupted;
  }

  void report_progress(const std::string& what) {
    if (options_.on_progress) options_.on_progress(what, done_, total_);
    ++done_;
  }

  void move_ceilings_into_record() {
    stopped();
    for (const auto& m : ready_) {
      for (const ceiling_record& c : m->ceilings()) {
        if (!c.times.empty()) record_.ceilings.push_back(c);
      }
      for (const auto& entry : m->environment()) {
        const auto there = std::ranges::find(record_.environment, entry.first,
                                             &std::pair<std::string, std::string>::first);
        if (there == record_.environment.end()) record_.environment.push_back(entry);
      }
    }
    std::ranges::stable_sort(record_.ceilings, {}, [](const ceiling_record& c) {
      return std::pair(c.what, c.arithmetic);
    });
    warn_of_caches();
    warn_of_spread();
  }

  /// Warns if a tensor of the default sizes may fit into caches.
  void warn_of_caches() {
    if (options_.sizes) return;
    for (const ceiling_record& c : record_.ceilings) {
      if (c.what != ceiling::read) continue;
      auto doubt = doubt_of_caches(static_cast<std::size_t>(c.amount), record_.device);
      if (!doubt.empty()) record_.warnings.push_back(std::move(doubt));
    }
  }

  void warn_of_spread() {
    const auto wide = wide_spreads(figures_of(record_));
    if (wide.empty()) return;
    record_.warnings.push_back(fmt::format(
        "these times spread by more than {:.0f} % between their 10th and 90th percentile: {}; the "
        "machine had other work or changed its clocks, so calibrate again when it is quiet",
        100 * wide_spread, fmt::join(wide, "; ")));
  }

  const stage_registry& kinds_;
  device& device_;
  const calibration_options& options_;
  calibration_sizes sizes_;
  std::vector<wanted> wanted_;
  std::vector<std::unique_ptr<ceiling_measurement>> ready_;
  std::int64_t done_ = 0;
  std::int64_t total_ = 0;
  calibration_record record_;
};

}  // namespace

calibration_record calibrate(const stage_registry& kinds, device& d,
                             const calibration_options& options) {
  return calibration_run(kinds, d, options).run();
}

}  // namespace graphline
