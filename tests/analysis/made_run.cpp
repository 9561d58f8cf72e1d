#include "tests/analysis/made_run.hpp"

#include <utility>

namespace graphline::samples {

made_run::made_run(strategy how, timing_method timing, const char* backend) {
  record.pipeline = "made";
  record.run.strategy = how;
  record.run.timing = timing;
  record.device.backend = backend;
  record.device.one_at_a_time = record.device.backend == "host";
  record.threads = {"main", "worker 1", "worker 2"};
  record.tensors.resize(1);
}

made_run& made_run::cpu_stage(const char* name, std::vector<wait_record> waits) {
  auto& stage = record.stages.emplace_back();
  stage.name = name;
  stage.on = side::cpu;
  stage.waits = std::move(waits);
  return *this;
}

made_run& made_run::device_stage(const char* name, std::vector<wait_record> waits,
                                 const char* stream, bool copy) {
  cpu_stage(name, std::move(waits));
  auto& stage = record.stages.back();
  stage.on = side::device;
  stage.stream = stream;
  stage.copy = copy;
  return *this;
}

made_run& made_run::frame(nanoseconds begin, nanoseconds end, std::optional<nanoseconds> due) {
  record.frames.push_back({due.value_or(begin), begin, end});
  return *this;
}

made_run& made_run::cpu(std::size_t stage, nanoseconds begin, nanoseconds end,
                        std::uint32_t thread) {
  record.stages[stage].cpu.push_back({begin, end});
  record.stages[stage].threads.push_back(thread);
  return *this;
}

made_run& made_run::launch(std::size_t stage, nanoseconds begin, nanoseconds end,
                           std::uint32_t thread) {
  record.stages[stage].enqueued.push_back({begin, end});
  record.stages[stage].threads.push_back(thread);
  return *this;
}

made_run& made_run::synced(std::size_t stage, nanoseconds begin, nanoseconds end,
                           std::uint32_t thread) {
  record.stages[stage].synced.push_back({begin, end});
  record.stages[stage].threads.push_back(thread);
  return *this;
}

made_run& made_run::device(std::size_t stage, nanoseconds begin, nanoseconds end) {
  record.stages[stage].device.push_back({begin, end});
  return *this;
}

made_run& made_run::busy(std::size_t stage, nanoseconds time) {
  record.device.reports_busy_time = true;
  record.stages[stage].busy.push_back(time);
  return *this;
}

made_run& made_run::cause(std::size_t stage, std::int32_t what) {
  record.stages[stage].causes.push_back(what);
  return *this;
}

made_run& made_run::seen(std::size_t stage, nanoseconds at) {
  record.stages[stage].seen.push_back(at);
  return *this;
}

made_run& made_run::ended_by(std::size_t stage) {
  record.ended_by.push_back(static_cast<std::uint32_t>(stage));
  return *this;
}

made_run& made_run::frame_launch(nanoseconds begin, nanoseconds end) {
  record.launches.push_back({begin, end});
  return *this;
}

std::string path_of(const run_record& record, std::size_t frame) {
  const auto path = attributor(record).of(frame);
  std::string text;
  for (const auto& piece : path.pieces) {
    text += text.empty() ? "" : ", ";
    text += to_word(piece.what);
    if (piece.stage) text += " " + record.stages[*piece.stage].name;
    text += " " + std::to_string(piece.begin) + "-" + std::to_string(piece.end);
  }
  if (path.residual != 0) text += ", residual " + std::to_string(path.residual);
  return text;
}

std::string path_of(const made_run& made, std::size_t frame) {
  return path_of(made.record, frame);
}

nanoseconds sum_of(const frame_attribution& path) {
  nanoseconds sum = path.residual;
  for (const auto& piece : path.pieces) sum += piece.length();
  return sum;
}

}  // namespace graphline::samples
