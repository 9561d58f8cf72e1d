#include "framework/run/recording.hpp"

namespace graphline {

recording::recording(const plan& p, const std::vector<std::vector<stage_part>>& parts,
                     timing_method method, std::int64_t frames, nanoseconds epoch)
    : method_(method), epoch_(epoch), frames_(static_cast<std::size_t>(frames)) {
  const auto count = static_cast<std::size_t>(frames);
  const bool layers = method == timing_method::layers;
  const bool events = layers || method == timing_method::event;
  // In a frame's graph no stage is launched by itself.
  const bool launches =
      (events || method == timing_method::host) && p.run.graphs != graph_mode::frame;
  stages_.reserve(p.stages.size());
  for (const auto& stage : p.stages) {
    stage_record r;
    r.name = stage.name;
    r.kind = stage.kind->name;
    r.on = stage.on;
    r.copy = stage.kind->moves;
    if (stage.on == side::device) {
      r.stream = p.streams[stage.stream].name;
      if (launches) r.enqueued.resize(count);
      if (method == timing_method::sync) r.synced.resize(count);
      if (events) r.device.resize(count);
      for (const auto& part : parts[stages_.size()]) {
        r.parts.push_back({part.name, part.choice, {}});
        if (layers) r.parts.back().device.resize(count);
      }
    } else if (method != timing_method::none) {
      r.cpu.resize(count);
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
    for (auto& part : stage.parts) {
      if (!part.device.empty()) part.device.resize(keep);
    }
  }
  to.frames = std::move(frames_);
  to.stages = std::move(stages_);
}

}  // namespace graphline
