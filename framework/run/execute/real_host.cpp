#include "framework/run/execute/real_host.hpp"

#include <algorithm>
#include <map>

#include "framework/base/machine.hpp"
#include "framework/run/execute/environment.hpp"

namespace graphline {
/// Makes at most one thread per CPU stage, because a stage never overlaps itself.
void real_host::workers::start(const device_group& on, std::span<const plan* const> plans) {
  std::int64_t cpu_stages = 0;
  bool device_stages = false;
  int cores = 1;
  for (const plan* p : plans) {
    const auto on_cpu = std::ranges::count(p->stages, side::cpu, &planned_stage::on);
    cpu_stages += on_cpu;
    device_stages = device_stages || on_cpu < std::ssize(p->stages);
    cores = std::max(cores, cores_for_cpu_stages(*p, on.compute_threads()));
  }
  const auto threads = static_cast<int>(std::clamp<std::int64_t>(cpu_stages, 1, cores));
  // oneTBB warns if more places are requested than there are cores.
  const int places = std::max(threads, std::min(cores, usable_cores()));
  pool = std::make_unique<task_pool>(threads, places, device_stages ? on.host_cpus() : cpu_set(),
                                     plans.front()->run.realtime);
}

void real_host::start_workers(workers& of, seen_function seen) {
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
  const plan* const own[] = {&p};
  if (of.pool == nullptr) of.start(pipeline_.devices(), own);
  pool_ = of.pool.get();
  if (queues.empty()) return;
  watcher_ = std::make_unique<completion_watcher>(
      queues.size(), p.stages.size() * pipeline_.slots().size(), p.run.wait,
      [seen = std::move(seen)](std::uint64_t token, std::exception_ptr problem) {
        turn of_watcher(turn::of::watcher);
        seen(of_watcher, token, std::move(problem));
      },
      p.run.realtime);
}

}  // namespace graphline
