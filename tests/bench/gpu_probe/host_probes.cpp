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

struct stack_of_thread {
  std::size_t bytes = 0;
  std::size_t left = 0;
};

/// Fills a `stack_of_thread`; prints nothing, which a small stack might not stand.
void measure_stack(void* into) {
  pthread_attr_t attributes;
  void* lowest = nullptr;
  auto& found = *static_cast<stack_of_thread*>(into);
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  pthread_attr_getstack(&attributes, &lowest, &found.bytes);
  const auto* here = reinterpret_cast<const char*>(&attributes);
  found.left = static_cast<std::size_t>(here - static_cast<const char*>(lowest));
  pthread_attr_destroy(&attributes);
}

void tell_stack(const std::string& fact, const stack_of_thread& found) {
  tell(fact + ", stack", static_cast<double>(found.bytes) / 1024, "KiB");
  tell(fact + ", stack left", static_cast<double>(found.left) / 1024, "KiB");
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
  stack_of_thread found;
  const cudaStream_t stream = make_stream();
  call(stream, measure_stack, &found);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  tell_stack("call of a stream", found);
  found = {};
  const cudaGraphExec_t graph =
      executable(captured(stream, [&] { call(stream, measure_stack, &found); }), stream);
  check(cudaGraphLaunch(graph, stream), "cudaGraphLaunch");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  tell_stack("call of a graph", found);
}

void probe_waits() {
  tell_wait("query loop", 0, [](cudaEvent_t event) {
    while (!is_done(event)) {
    }
  });
  tell_wait("blocking event", cudaEventBlockingSync, synchronize);
  tell_wait("event", 0, synchronize);
  constexpr std::array<std::pair<const char*, unsigned>, 3> device_flags = {
      {{"event, device set to spin", cudaDeviceScheduleSpin},
       {"event, device set to yield", cudaDeviceScheduleYield},
       {"event, device set to block", cudaDeviceScheduleBlockingSync}}};
  for (const auto& [fact, flag] : device_flags) {
    const cudaError_t status = cudaSetDeviceFlags(flag);
    if (status == cudaSuccess) {
      tell_wait(fact, 0, synchronize);
    } else {
      tell(fact, status_text(status));
      static_cast<void>(cudaGetLastError());  // a status that was told stands in no later way
    }
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
  captured(stream, [&] {
    tell("a wait node for an event of outside",
         status_text(cudaStreamWaitEvent(stream, event, cudaEventWaitExternal)));
  });
}

}  // namespace gpu_probe
