// What host functions and waits cost, and whom they hold up.

#include <pthread.h>

#include <array>
#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>

#include "tests/bench/gpu_probe/probe.hpp"

namespace gpu_probe {
namespace {

constexpr double held_us = 5000;

void hold(void*) {
  std::this_thread::sleep_for(std::chrono::microseconds(static_cast<int>(held_us)));
}

void call(cudaStream_t stream, cudaHostFn_t function, void* with = nullptr) {
  check(cudaLaunchHostFunc(stream, function, with), "cudaLaunchHostFunc");
}

/// Microseconds of the host until the stream has done all that `enqueue` gave to any.
double until_done(cudaStream_t stream, const std::function<void()>& enqueue) {
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  const double begin = now_us();
  enqueue();
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  const double us = now_us() - begin;
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  return us;
}

/// Microseconds in a graph until each of two branches is done. `first` and `second` enqueue them.
std::array<double, 2> branches(const std::function<void(cudaStream_t)>& first,
                               const std::function<void(cudaStream_t)>& second) {
  const cudaStream_t stream = make_stream();
  const cudaStream_t forked = make_stream();
  std::array<cudaEvent_t, 3> events{};
  for (cudaEvent_t& event : events) event = make_event();
  const cudaGraphExec_t graph = executable(captured(stream,
                                                    [&] {
                                                      record_in_graph(events[0], stream);
                                                      join(forked, stream);
                                                      first(stream);
                                                      record_in_graph(events[1], stream);
                                                      second(forked);
                                                      record_in_graph(events[2], forked);
                                                      join(stream, forked);
                                                    }),
                                           stream);
  for (int i = 0; i < 2; ++i) {
    check(cudaGraphLaunch(graph, stream), "cudaGraphLaunch");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
  return {microseconds(events[0], events[1]), microseconds(events[0], events[2])};
}

void tell_stack(void* fact) {
  pthread_attr_t attributes;
  void* lowest = nullptr;
  std::size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  pthread_attr_getstack(&attributes, &lowest, &bytes);
  const auto* here = reinterpret_cast<const char*>(&attributes);
  tell(std::string(static_cast<const char*>(fact)) + ", stack", static_cast<double>(bytes) / 1024,
       "KiB");
  tell(std::string(static_cast<const char*>(fact)) + ", stack left",
       static_cast<double>(here - static_cast<const char*>(lowest)) / 1024, "KiB");
  pthread_attr_destroy(&attributes);
}

double thread_cpu_us() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
}

/// From launching an empty kernel until the host has seen its end, and the share of a longer wait
/// for which the thread kept its core.
void tell_wait(const std::string& fact, unsigned flags,
               const std::function<void(cudaEvent_t)>& wait) {
  const cudaStream_t stream = make_stream();
  const cudaEvent_t event = make_event(flags | cudaEventDisableTiming);
  std::vector<double> times;
  for (int i = 0; i < 200; ++i) {
    const double begin = now_us();
    enqueue_empty(stream);
    record(event, stream);
    wait(event);
    times.push_back(now_us() - begin);
  }
  tell("launch to seen, " + fact, median(times), "us");
  enqueue_busy(stream, 20'000'000);
  record(event, stream);
  const double begin = now_us();
  const double cpu_begin = thread_cpu_us();
  wait(event);
  tell("core kept while waiting, " + fact, 100 * (thread_cpu_us() - cpu_begin) / (now_us() - begin),
       "%");
}

void synchronize(cudaEvent_t event) {
  check(cudaEventSynchronize(event), "cudaEventSynchronize");
}

}  // namespace

void probe_host_functions() {
  const cudaStream_t stream = make_stream();
  const cudaStream_t other = make_stream();
  const auto kernel = [&] { enqueue_busy(stream, 100'000); };
  const auto held = [&] { call(other, hold); };
  until_done(stream, kernel);
  tell("a kernel of 100 us alone", until_done(stream, kernel), "us");
  tell("a kernel of 100 us beside a call of 5 ms",
       until_done(stream,
                  [&] {
                    held();
                    kernel();
                  }),
       "us");
  tell("a call of 5 ms beside another",
       until_done(stream,
                  [&] {
                    held();
                    call(stream, hold);
                  }),
       "us");
  const auto busy = [](cudaStream_t on) { enqueue_busy(on, 100'000); };
  const auto calling = [](cudaStream_t on) { call(on, hold); };
  tell("in a graph, a kernel of 100 us beside a kernel", branches(busy, busy)[1], "us");
  tell("in a graph, a kernel of 100 us beside a call of 5 ms", branches(calling, busy)[1], "us");
  const auto both = branches(calling, calling);
  tell("in a graph, a call of 5 ms beside another", both[0], "us");
  tell("in a graph, the other call", both[1], "us");
}

void probe_callback_stack() {
  static std::string in_stream = "call of a stream";
  static std::string in_graph = "call of a graph";
  const cudaStream_t stream = make_stream();
  call(stream, tell_stack, in_stream.data());
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  const cudaGraphExec_t graph =
      executable(captured(stream, [&] { call(stream, tell_stack, in_graph.data()); }), stream);
  check(cudaGraphLaunch(graph, stream), "cudaGraphLaunch");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

void probe_waits() {
  tell_wait("query loop", 0, [](cudaEvent_t event) {
    while (cudaEventQuery(event) == cudaErrorNotReady) {
    }
  });
  tell_wait("blocking event", cudaEventBlockingSync, synchronize);
  tell_wait("event", 0, synchronize);
  constexpr std::array<std::pair<const char*, unsigned>, 3> device_flags = {
      {{"event, device set to spin", cudaDeviceScheduleSpin},
       {"event, device set to yield", cudaDeviceScheduleYield},
       {"event, device set to block", cudaDeviceScheduleBlockingSync}}};
  for (const auto& [fact, flag] : device_flags) {
    check(cudaSetDeviceFlags(flag), "cudaSetDeviceFlags");
    tell_wait(fact, 0, synchronize);
  }
  const cudaStream_t stream = make_stream();
  std::atomic<bool> called = false;
  std::vector<double> times;
  for (int i = 0; i < 200; ++i) {
    called = false;
    const double begin = now_us();
    enqueue_empty(stream);
    call(
        stream, [](void* flag) { *static_cast<std::atomic<bool>*>(flag) = true; }, &called);
    while (!called) {
    }
    times.push_back(now_us() - begin);
  }
  tell("launch to seen, host function", median(times), "us");
  const cudaEvent_t event = make_event(cudaEventDisableTiming);
  record(event, stream);
  cudaError_t status = cudaSuccess;
  captured(stream, [&] { status = cudaStreamWaitEvent(stream, event, cudaEventWaitExternal); });
  tell("a wait node for an event of outside", status_text(status));
}

}  // namespace gpu_probe
