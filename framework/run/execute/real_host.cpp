#include "framework/run/execute/real_host.hpp"

#include <algorithm>
#include <map>

#include "framework/base/machine.hpp"
#include "framework/run/execute/environment.hpp"

namespace graphline {
namespace {

/// Makes at most one thread per CPU stage, because a stage never overlaps itself.
std::unique_ptr<task_pool> make_pool(const device& d, const plan& p) {
  const auto cpu_stages = static_cast<int>(
      std::ranges::count(p.stages, side::cpu, [](const auto& stage) { return stage.on; }));
  const bool device_stages = cpu_stages < static_cast<int>(p.stages.size());
  const int workers = cores_for_cpu_stages(p, d.properties());
  const int threads = std::clamp(cpu_stages, 1, workers);
  // oneTBB warns if more places are requested than there are cores.
  const int places = std::max(threads, std::min(workers, usable_cores()));
  return std::make_unique<task_pool>(
      threads, places, device_stages ? d.properties().host_cpus : cpu_set(), p.run.realtime);
}

}  // namespace

void real_host::start_workers(seen_function seen) {
  const plan& p = pipeline_.planned();
  std::map<std::size_t, std::size_t> queues;  // watcher queue, by stream
  for (const auto& stage : p.stages) {
    stage_place& place = places_.emplace_back();
    place.stream = stage.stream;
    if (stage.on == side::cpu || !stage.host_waits) continue;
    place.queue = queues.try_emplace(stage.stream, queues.size()).first->second;
  }
  for (std::size_t i = 0; i < pipeline_.stream_count(); ++i) {
    stream_locks_.push_back(std::make_unique<std::mutex>());
  }
  pool_ = make_pool(pipeline_.device(), p);
  if (queues.empty()) return;
  watcher_ = std::make_unique<completion_watcher>(
      queues.size(), p.stages.size() * pipeline_.slots().size(), p.run.wait,
      [seen = std::move(seen)](std::uint64_t token, std::exception_ptr problem) {
        turn own(turn::of::watcher);
        seen(own, token, std::move(problem));
      },
      p.run.realtime);
}

}  // namespace graphline
