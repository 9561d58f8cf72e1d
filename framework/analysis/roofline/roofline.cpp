#include "framework/analysis/roofline/roofline.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "framework/analysis/run/attribution_summary.hpp"
#include "framework/analysis/run/summary.hpp"
#include "framework/analysis/stats/distribution.hpp"

namespace graphline {

namespace {

/// Returns the FLOPs per byte; empty if either is unknown.
std::optional<double> intensity_of(const cost_record& cost) {
  const auto bytes = bytes_of(cost);
  if (!cost.flops || !bytes || *bytes <= 0) return std::nullopt;
  return static_cast<double>(*cost.flops) / static_cast<double>(*bytes);
}

/// Returns the time in ns for an amount at a rate per second.
double time_for(double amount, double per_second) {
  return amount * 1e9 / per_second;
}

/// Computes the metrics of work in device memory. Without a calibrated compute rate, the roofline
/// time is unknown, because the memory time alone is only a lower bound.
roofline_metrics on_device(const cost_record& cost, const device_ceilings& at) {
  roofline_metrics result;
  result.cost = cost;
  result.intensity = intensity_of(cost);
  double best_roofline_time = 0;
  if (bytes_of(cost)) {
    const auto [usual, best] = at.time_to_move(static_cast<double>(*cost.bytes_read),
                                               static_cast<double>(*cost.bytes_written));
    result.memory_time = usual;
    best_roofline_time = best;
  }
  if (cost.flops) {
    const auto flops = static_cast<double>(*cost.flops);
    const auto* rate = at.rate(cost.arithmetic);
    if (flops <= 0) {
      result.compute_time = 0;
    } else if (rate != nullptr) {
      result.compute_time = time_for(flops, rate->value);
      best_roofline_time = std::max(best_roofline_time, time_for(flops, rate->best));
    } else {
      return result;
    }
  }
  if (!result.memory_time && !result.compute_time) return result;
  const double memory = result.memory_time.value_or(0);
  const double compute = result.compute_time.value_or(0);
  result.roofline_time = std::max(memory, compute);
  result.best_roofline_time = best_roofline_time;
  if (*result.roofline_time > 0) result.by = compute > memory ? bound::compute : bound::memory;
  return result;
}

/// Computes the metrics of work on a device; without its ceilings, these have no times.
roofline_metrics metrics_of(const cost_record& cost, const device_ceilings* at) {
  if (at != nullptr) return on_device(cost, *at);
  roofline_metrics result;
  result.cost = cost;
  result.intensity = intensity_of(cost);
  return result;
}

/// Computes the metrics of a copy between host and device, which moves each byte once.
roofline_metrics in_transfer(const cost_record& cost, const ceiling_figure* bandwidth) {
  roofline_metrics result;
  result.cost = cost;
  if (bandwidth == nullptr || !cost.bytes_read) return result;
  const auto bytes = static_cast<double>(*cost.bytes_read);
  result.memory_time = result.roofline_time = time_for(bytes, bandwidth->value);
  result.best_roofline_time = time_for(bytes, bandwidth->best);
  if (bytes > 0) result.by = bound::transfer;
  return result;
}

/// Returns the bandwidth of a copy. The direction follows from where the copy's input and output
/// are; one of them can be unknown. Null between two GPUs, whose link is not calibrated; two `host`
/// devices have the CPU's memory.
const ceiling_figure* bandwidth_of_copy(const run_record& record, std::size_t stage,
                                        const device_ceilings& at) {
  std::optional<side> from;
  std::optional<side> to;
  for (const auto& tensor : record.tensors) {
    if (std::ranges::count(tensor.readers, stage) > 0) from = tensor.on;
    if (tensor.writer == stage) to = tensor.on;
  }
  if (from == side::device && to == side::device) {
    return device_of(record, record.stages[stage]).compute_threads > 0 ? at.to_device : nullptr;
  }
  if (from == side::cpu || to == side::device) return at.to_device;
  return from || to ? at.to_host : nullptr;
}

void add_to(std::optional<double>& sum, const std::optional<double>& value, double weight = 1) {
  if (sum && value) {
    *sum += weight * *value;
  } else {
    sum.reset();
  }
}

/// Computes the metrics of a stage whose parts run one after another.
roofline_metrics sum_of(const cost_record& whole, const std::vector<roofline_metrics>& parts) {
  roofline_metrics result;
  result.cost = whole;
  result.memory_time = result.compute_time = result.roofline_time = result.best_roofline_time = 0;
  std::array<double, std::size(bound_words)> time_by = {};
  for (const auto& part : parts) {
    add_to(result.memory_time, part.memory_time);
    add_to(result.compute_time, part.compute_time);
    add_to(result.roofline_time, part.roofline_time);
    add_to(result.best_roofline_time, part.best_roofline_time);
    if (part.by) time_by[static_cast<std::size_t>(*part.by)] += *part.roofline_time;
  }
  if (result.roofline_time && *result.roofline_time > 0) {
    const auto most = std::max_element(time_by.begin(), time_by.end());
    result.by = static_cast<bound>(most - time_by.begin());
  }
  result.intensity = intensity_of(whole);
  return result;
}

void set_measured(roofline_metrics& figures, std::vector<nanoseconds> times) {
  figures.measured = p50_of(distribution::of(std::move(times)));
  if (!figures.measured || !figures.roofline_time) return;
  if (*figures.roofline_time > 0) figures.ratio = *figures.measured / *figures.roofline_time;
  figures.below_roofline = *figures.measured < *figures.best_roofline_time;
}

/// Returns the record of stage `s` with timed parts: from `layers` if given, otherwise from
/// `record`. Null if the parts in `layers` differ.
const stage_record* stage_in_layers(const run_record& record, const run_record* layers,
                                    std::size_t s) {
  const auto& stage = record.stages[s];
  if (layers == nullptr) return &stage;
  if (s >= layers->stages.size()) return nullptr;
  const auto& other = layers->stages[s];
  const bool same =
      other.name == stage.name &&
      std::equal(other.parts.begin(), other.parts.end(), stage.parts.begin(), stage.parts.end(),
                 [](const auto& a, const auto& b) { return a.name == b.name; });
  return same ? &other : nullptr;
}

/// Evaluates the frames of a bucket; all frames of a stage without buckets.
roofline_stage evaluate_stage(const run_record& record, const run_record* layers, std::size_t s,
                              std::size_t bucket, const device_ceilings* at) {
  const auto& stage = record.stages[s];
  const auto& cost = stage.buckets.empty() ? stage.cost : stage.buckets[bucket].cost;
  roofline_stage result;
  result.stage = s;
  result.bucket = bucket;
  std::vector<roofline_metrics> parts;
  for (const auto& part : stage.parts) {
    if (part.bucket == bucket) parts.push_back(metrics_of(part.cost, at));
  }
  const bool all_known =
      !parts.empty() && std::all_of(parts.begin(), parts.end(), [](const auto& part) {
        return part.roofline_time.has_value();
      });
  if (stage.copy) {
    result.figures = in_transfer(cost, at ? bandwidth_of_copy(record, s, *at) : nullptr);
  } else {
    result.figures = all_known ? sum_of(cost, parts) : metrics_of(cost, at);
  }
  const bool synced = record.run.timing == timing_method::sync;
  set_measured(result.figures,
               of_frames_run(stage, synced ? lengths(stage.synced) : device_times(stage), bucket));
  const auto* timed = stage_in_layers(record, layers, s);
  for (std::size_t p = 0; p < stage.parts.size(); ++p) {
    if (stage.parts[p].bucket != bucket) continue;
    auto& part = result.parts.emplace_back();
    part = {p, std::move(parts[result.parts.size() - 1])};
    if (timed == nullptr) continue;
    set_measured(part.figures, of_frames_run(*timed, device_times(timed->parts[p]), bucket));
  }
  return result;
}

/// Returns the fraction of frames that took each bucket; of a stage without buckets, that ran it.
std::vector<double> shares_by_bucket(const stage_record& stage) {
  if (stage.rows.empty() && stage.buckets.empty()) return {1};
  std::vector<double> shares;
  for (const std::size_t frames : frames_by_bucket(stage)) {
    shares.push_back(static_cast<double>(frames) /
                     std::max(1.0, static_cast<double>(stage.rows.size())));
  }
  return shares;
}

/// Returns the part of a stage's time above its roofline that is on the critical path, in ns per
/// frame. Empty if the measured time or the roofline time is unknown.
std::optional<double> gain_of(const roofline_stage& stage, const path_stage& path) {
  const auto& figures = stage.figures;
  if (!figures.measured || !figures.roofline_time) return std::nullopt;
  const double whole = path.on_path + path.off_path;
  const double on_path = whole > 0 ? path.on_path / whole : 0;
  return (*figures.measured - *figures.roofline_time) * stage.share_of_frames * on_path;
}

std::vector<std::size_t> order_by_gain(const std::vector<roofline_stage>& stages,
                                       const std::vector<path_stage>& paths) {
  std::vector<std::pair<double, std::size_t>> gains;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (const auto gain = gain_of(stages[i], paths[stages[i].stage])) {
      gains.emplace_back(*gain, i);
    }
  }
  std::stable_sort(gains.begin(), gains.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::size_t> result;
  for (const auto& [gain, index] : gains) result.push_back(index);
  return result;
}

}  // namespace

std::string name_of(const run_record& record, const roofline_stage& stage) {
  const auto& of = record.stages[stage.stage];
  return of.name + bucket_suffix(of, stage.bucket);
}

std::optional<roofline_summary> evaluate_roofline(const run_record& record,
                                                  const run_record* layers,
                                                  const std::optional<attribution_summary>& path) {
  roofline_summary result;
  std::vector<std::optional<device_ceilings>> ceilings;  // by device
  for (std::size_t d = 0; d < std::max<std::size_t>(1, record.devices.size()); ++d) {
    auto& at = ceilings.emplace_back();
    if (const auto& known = calibration_of(record, d)) at.emplace(known->ceilings);
    if (at && (!at->bandwidth || at->compute.empty())) at.reset();
    if (at) result.devices.push_back({d, *at->bandwidth, at->compute});
  }
  if (result.devices.empty()) return std::nullopt;

  for (std::size_t s = 0; s < record.stages.size(); ++s) {
    if (record.stages[s].on != side::device) continue;
    const auto shares = shares_by_bucket(record.stages[s]);
    for (std::size_t b = 0; b < shares.size(); ++b) {
      if (shares[b] == 0 && !record.stages[s].buckets.empty()) continue;
      const auto& at = ceilings[record.stages[s].device_index];
      auto& stage =
          result.stages.emplace_back(evaluate_stage(record, layers, s, b, at ? &*at : nullptr));
      stage.share_of_frames = shares[b];
      if (path && !path->stages.empty() && path->end_to_end.all > 0) {
        stage.share_of_path = path->stages[s].by_bucket[b] / path->end_to_end.all;
      }
    }
  }
  if (!result.stages.empty()) result.measured = result.roofline_time = 0;
  for (const auto& stage : result.stages) {
    if (stage.share_of_frames == 0) continue;
    add_to(result.measured, stage.figures.measured, stage.share_of_frames);
    add_to(result.roofline_time, stage.figures.roofline_time, stage.share_of_frames);
  }
  if (path && !path->stages.empty()) result.by_gain = order_by_gain(result.stages, path->stages);
  return result;
}

}  // namespace graphline
