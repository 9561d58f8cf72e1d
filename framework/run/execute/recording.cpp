#include "framework/run/execute/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "framework/record/timing_protocol.hpp"

namespace graphline {

namespace {

cost_record all_of(const cost& known, precision arithmetic) {
  return {known.flops, known.bytes_read, known.bytes_written, arithmetic};
}

cost_record cost_of(const stage_part& part) {
  if (!part.cost) return {.flops = {}, .bytes_read = {}, .bytes_written = {}};
  return all_of(*part.cost, part.arithmetic);
}

cost_record stated_cost(const planned_stage& stage) {
  auto result = all_of(stage.shape.cost, precision::float32);
  if (stage.shape.known != known_cost::all) result.flops.reset();
  if (stage.shape.known == known_cost::none) result.bytes_read = result.bytes_written = {};
  return result;
}

/// The sum of its parts, in the precision of the part with most FLOPs; for a stage that is one
/// whole, or has parts of which it is not known, what its kind states.
cost_record cost_of(const planned_stage& stage, const std::vector<stage_part>& parts) {
  cost sum;
  std::int64_t most = -1;
  auto arithmetic = precision::float32;
  for (const auto& part : parts) {
    if (!part.cost) return stated_cost(stage);
    sum += *part.cost;
    if (part.cost->flops > most) arithmetic = part.arithmetic;
    most = std::max(most, part.cost->flops);
  }
  return parts.empty() ? stated_cost(stage) : all_of(sum, arithmetic);
}

}  // namespace

recording::recording(const plan& p, const std::vector<std::vector<stage_part>>& parts,
                     const device_properties& on, timing_method method, std::int64_t frames,
                     nanoseconds epoch)
    : method_(method), epoch_(epoch), frames_(static_cast<std::size_t>(frames)) {
  const auto count = static_cast<std::size_t>(frames);
  const bool layers = method == timing_method::layers;
  const auto traits = traits_of(method);
  // In a frame's graph no stage is launched by itself.
  const bool launches = method != timing_method::none && method != timing_method::sync &&
                        p.run.graphs != graph_mode::frame;
  if (p.run.graphs == graph_mode::frame && method != timing_method::none) launches_.resize(count);
  stages_.reserve(p.stages.size());
  for (const auto& stage : p.stages) {
    stage_record r;
    r.name = stage.name;
    r.kind = stage.kind->name;
    r.on = stage.on;
    r.copy = stage.kind->moves;
    r.priority = stage.priority;
    r.cost = cost_of(stage, parts[stages_.size()]);
    for (const auto& wait : stage.waits) r.waits.push_back({wait.stage, wait.how});
    if (stage.on == side::device) {
      r.stream = p.streams[stage.stream].name;
      if (launches) r.enqueued.resize(count);
      if (method == timing_method::sync) r.synced.resize(count);
      if (traits.tells_spans) r.device.resize(count);
      if (traits.by_events && on.tells_busy_time) r.busy.resize(count);
      if (launches || method == timing_method::sync) r.threads.resize(count);
      for (const auto& part : parts[stages_.size()]) {
        r.parts.push_back({part.name, part.choice, {}, cost_of(part)});
        if (layers) r.parts.back().device.resize(count);
        if (layers && on.tells_busy_time) r.parts.back().busy.resize(count);
      }
    } else if (method != timing_method::none) {
      r.cpu.resize(count);
      r.threads.resize(count);
    }
    stages_.push_back(std::move(r));
  }
}

void recording::hand_over(run_record& to, std::int64_t completed) && {
  const auto keep = static_cast<std::size_t>(completed);
  frames_.resize(keep);
  for (auto& stage : stages_) {
    for (auto* column : {&stage.enqueued, &stage.device, &stage.synced, &stage.cpu}) {
      if (!column->empty()) column->resize(keep);
    }
    if (!stage.threads.empty()) stage.threads.resize(keep);
    if (!stage.busy.empty()) stage.busy.resize(keep);
    for (auto& part : stage.parts) {
      if (!part.device.empty()) part.device.resize(keep);
      if (!part.busy.empty()) part.busy.resize(keep);
    }
  }
  if (!launches_.empty()) launches_.resize(keep);
  name_threads(to);
  to.frames = std::move(frames_);
  to.launches = std::move(launches_);
  to.stages = std::move(stages_);
}

void recording::name_threads(run_record& to) {
  std::map<std::uint32_t, std::uint32_t> index = {{driver_, 0}};
  to.threads = {"main"};
  for (const auto& stage : stages_) {
    for (const auto number : stage.threads) index.try_emplace(number, 0);
  }
  // By number: in the order in which they came to be.
  std::map<std::string, int> taken;
  for (auto& [number, place] : index) {
    if (number == driver_) continue;
    place = static_cast<std::uint32_t>(to.threads.size());
    auto name = thread_name(number);
    const int times = ++taken[name];
    to.threads.push_back(times == 1 ? name : fmt::format("{} ({})", name, times));
  }
  for (auto& stage : stages_) {
    for (auto& number : stage.threads) number = index.at(number);
  }
}

}  // namespace graphline
