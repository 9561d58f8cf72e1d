#include "framework/run/calibrate/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>
#include <vector>

#include "framework/analysis/roofline/ceilings.hpp"
#include "framework/base/error.hpp"
#include "framework/run/execute/environment.hpp"

namespace graphline {
namespace {

/// "compute capability" as a number; nothing for a device that states none.
std::optional<double> capability_of(const device_properties& device) {
  for (const auto& [name, text] : device.details) {
    double value = 0;
    if (name != "compute capability") continue;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec == std::errc{}) return value;
  }
  return std::nullopt;
}

class calibrating {
 public:
  calibrating(const stage_registry& kinds, device& d, const calibration_options& options)
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
        tell("measuring " + m->name());
        m->add_samples(options_.stop);
      }
    }
    hand_over();
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
    wanted_.push_back({"transfers of ordinary memory",
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

  /// What the device's arithmetic has: `host` computes in float32 whatever is asked of it.
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
            "{} was left out: compute capability {:.1f} does not have it", word, *capability));
        continue;
      }
      all.push_back(p);
    }
    return all;
  }

  void prepare_all() {
    for (const wanted& w : wanted_) {
      if (stopped()) return;
      tell("preparing " + w.name);
      prepare(w);
    }
  }

  /// A warning where it cannot be had.
  void prepare(const wanted& w) {
    try {
      ready_.push_back(w.make());
    } catch (const interrupted_error&) {
      return;
    } catch (const error& e) {
      device_.synchronize(wait_mode::block);  // throws where the device itself has failed
      record_.warnings.push_back(fmt::format("{} was left out: {}", w.name, e.what()));
    }
  }

  bool stopped() {
    if (options_.stop != nullptr && options_.stop->raised()) record_.interrupted = true;
    return record_.interrupted;
  }

  void tell(const std::string& what) {
    if (options_.on_progress) options_.on_progress(what, done_, total_);
    ++done_;
  }

  void hand_over() {
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

  /// Where nobody asked for such sizes.
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
  return calibrating(kinds, d, options).run();
}

}  // namespace graphline
