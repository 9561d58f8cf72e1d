#include "framework/campaign/calibrate/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "framework/analysis/roofline/ceilings.hpp"
#include "framework/base/error.hpp"
#include "framework/base/units.hpp"
#include "framework/run/execute/environment.hpp"
#include "framework/run/execute/tensor_data.hpp"

namespace graphline {
namespace {

/// "compute capability" as a number; empty for devices without one.
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
                       [this] { return measure_pageable_transfers(sizes_, device_); }});
    for (const precision p : precisions()) {
      want(convolution_pipeline(sizes_, p));
      want(matmul_pipeline(sizes_, p));
    }
    wanted_.push_back(
        {"costs of the host", [this] { return measure_driver_costs(sizes_, device_); }});
    total_ = static_cast<std::int64_t>(wanted_.size()) * (1 + sizes_.rounds);
  }

  void want(const ceiling_pipeline& pipeline) {
    wanted_.push_back({pipeline.name, [this, pipeline] {
                         return measure_pipeline(pipeline, sizes_, kinds_, device_, options_.stop);
                       }});
  }

  /// The precisions that the device supports; `host` always computes in float32.
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

  /// Adds a warning if it cannot be prepared.
  void prepare(const wanted& w) {
    try {
      ready_.push_back(w.make());
    } catch (const interrupted_error&) {
      return;
    } catch (const error& e) {
      device_.synchronize(wait_mode::block);  // throws if the device itself has failed
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

  /// Unless the sizes are the caller's.
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

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// Device memory over the size of the tensor that is read. At a time there are three such tensors
/// (read, copied, written) and, on `host` in the same memory, three of half the size for pinned and
/// two for pageable transfers: 5.5, which may take a quarter of the memory.
constexpr std::size_t tensors_in_memory = 22;

/// Host cost of launching and waiting, by the host clock. Times many calls together, since one can
/// take less than a microsecond.
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
  /// The time of `calls` calls, with the device idle before and after.
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

/// Bandwidths between a device and pageable memory, which graphs do not support: by the host clock,
/// from the call until the host has seen the copy complete.
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

}  // namespace

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

std::unique_ptr<ceiling_measurement> measure_driver_costs(const calibration_sizes& sizes,
                                                          device& d) {
  return std::make_unique<driver_costs>(sizes, d);
}

std::unique_ptr<ceiling_measurement> measure_pageable_transfers(const calibration_sizes& sizes,
                                                                device& d) {
  return std::make_unique<pageable_transfers>(sizes, d);
}

}  // namespace graphline
