#include "tests/device/cuda/fake/machine.hpp"

#include <cmath>
#include <thread>

#include "framework/base/clock.hpp"
#include "tests/device/cuda/fake/memory.hpp"

namespace fake_cuda {
namespace {

thread_local bool calls_host_functions = false;

/// How long the host is to enqueue nothing until the devices take what they held back: longer than
/// it takes to enqueue a frame, so that what was enqueued later has its chance to be done earlier.
constexpr std::chrono::microseconds quiet{100};

/// The finalizer of splitmix64 (Steele, Lea and Flood, 2014): no two numbers become the same.
std::uint64_t scramble(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

/// Host functions have no right to a device's memory.
cudaError_t run(const operation& what) {
  if (what.type == cudaGraphNodeTypeHost) return what.run();
  const memory_access access(what.device);
  return what.run();
}

}  // namespace

machine& the_machine() {
  static machine* const only = new machine;
  return *only;
}

const operation_ref& nothing() {
  static const auto* const only = new operation_ref(std::make_shared<operation>());
  return *only;
}

bool in_host_function() noexcept {
  return calls_host_functions;
}

task_ref machine::add(operation_ref what, int device, int priority,
                      const std::vector<task_ref>& after) {
  auto t = std::make_shared<task>();
  t->what = std::move(what);
  t->device = device;
  t->priority = priority;
  t->number = ++enqueued;
  enqueued_at = std::chrono::steady_clock::now();
  for (const task_ref& earlier : after) {
    if (earlier == nullptr || earlier->done) continue;
    earlier->then.push_back(t);
    ++t->awaited;
  }
  device_state& d = devices[device];
  d.unfinished.insert(t->number);
  if (!d.has_threads) {
    d.has_threads = true;
    std::thread([this, &d] { serve(d, d.ready); }).detach();
    std::thread([this, &d] {
      calls_host_functions = true;
      serve(d, d.ready_calls);
    }).detach();
  }
  if (t->awaited == 0) make_ready(t);
  return t;
}

ready_tasks::key_type machine::key_of(const task& t) const {
  if (!seed) return {t.priority, t.number};
  const std::uint64_t chance = scramble(t.number + scramble(*seed));
  return {static_cast<int>(chance & 1U), chance};
}

bool machine::is_held_back(const ready_tasks& queue) const {
  return seed && queue.begin()->first.first == 1 &&
         std::chrono::steady_clock::now() < enqueued_at + quiet;
}

void machine::make_ready(const task_ref& t) {
  device_state& d = devices[t->device];
  const bool is_call = t->what->type == cudaGraphNodeTypeHost;
  (is_call ? d.ready_calls : d.ready).emplace(key_of(*t), t);
  work.notify_all();
}

/// A thread's whole life: the first task of its queue, again and again.
void machine::serve(device_state& d, ready_tasks& queue) {
  std::unique_lock lock(mutex);
  while (true) {
    work.wait(lock, [&] { return !queue.empty(); });
    if (is_held_back(queue)) {
      work.wait_until(lock, enqueued_at + quiet);
      continue;
    }
    const task_ref t = queue.begin()->second;
    queue.erase(queue.begin());
    if (t->what->run != nullptr && d.failure == cudaSuccess) {
      lock.unlock();
      const cudaError_t result = run(*t->what);
      lock.lock();
      if (d.failure == cudaSuccess) d.failure = result;
    }
    finish(*t);
  }
}

void machine::finish(task& t) {
  t.done = true;
  t.at = std::llround(static_cast<double>(graphline::now()) * clock_speed) + clock_ahead;
  t.at -= t.at % clock_tick;
  devices[t.device].unfinished.erase(t.number);
  if (t.queue != nullptr) --*t.queue;
  for (const task_ref& next : std::exchange(t.then, {})) {
    if (--next->awaited == 0) make_ready(next);
  }
  t.what.reset();
  progress.notify_all();
}

void machine::wait_for_room(std::unique_lock<std::mutex>& lock,
                            std::shared_ptr<std::size_t> queue) {
  progress.wait(lock, [&] { return *queue < longest_queue; });
}

void machine::wait_for(std::unique_lock<std::mutex>& lock, const task_ref& t) {
  progress.wait(lock, [&] { return t == nullptr || t->done; });
}

void machine::wait_for_device(std::unique_lock<std::mutex>& lock, int device) {
  const std::uint64_t last = enqueued;
  const auto& unfinished = devices[device].unfinished;
  progress.wait(lock, [&] { return unfinished.empty() || *unfinished.begin() > last; });
}

}  // namespace fake_cuda
