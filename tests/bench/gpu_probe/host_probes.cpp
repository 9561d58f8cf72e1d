// Probes of host functions (which work they delay, their stack) and of captures.

#include <pthread.h>

#include <array>
#include <atomic>
#include <chrono>
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

/// Host time in microseconds until the stream has done the work of `enqueue`.
double until_done(cudaStream_t stream, const std::function<void()>& enqueue) {
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  const double begin = now_us();
  enqueue();
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  const double us = now_us() - begin;
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  return us;
}

/// Microseconds in a graph until each of two branches is done, which `first` and `second` enqueue.
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

/// Captures what is enqueued; returns false if another thread broke the capture.
bool captures(cudaStream_t stream, const std::function<void()>& enqueue) {
  try {
    captured(stream, enqueue);
    return true;
  } catch (const std::exception&) {
    cudaStreamCaptureStatus status{};
    cudaGraph_t graph = nullptr;
    static_cast<void>(cudaStreamIsCapturing(stream, &status));
    if (status != cudaStreamCaptureStatusNone) {
      static_cast<void>(cudaStreamEndCapture(stream, &graph));
    }
    static_cast<void>(cudaGetLastError());
    return false;
  }
}

struct stack_of_thread {
  std::size_t bytes = 0;
  std::size_t left = 0;
};

/// Fills a `stack_of_thread`. Printing could overflow a small stack.
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

void probe_disturbed_capture() {
  const cudaStream_t stream = make_stream();
  const cudaStream_t other_stream = make_stream();
  const cudaEvent_t event = make_event(cudaEventDisableTiming);
  record(event, other_stream);
  constexpr std::array names = {"event query", "stream synchronize"};
  for (std::size_t how = 0; how < names.size(); ++how) {
    std::atomic<bool> stop = false;
    std::thread other([&] {
      while (!stop) {
        if (how == 0) static_cast<void>(cudaEventQuery(event));
        if (how == 1) static_cast<void>(cudaStreamSynchronize(other_stream));
      }
    });
    int broken = 0;
    for (int i = 0; i < 200; ++i) {
      if (!captures(stream, [&] {
            for (int k = 0; k < 20; ++k) enqueue_empty(stream);
          })) {
        ++broken;
      }
    }
    stop = true;
    other.join();
    tell(std::string("captures broken by another thread's ") + names[how], broken, "of 200");
  }
  // Once, in order. A loop like the one above ended by SIGSEGV on an H200, for an unknown reason.
  cudaError_t status = cudaSuccess;
  const bool good = captures(stream, [&] {
    enqueue_empty(stream);
    std::thread([&] { status = cudaDeviceSynchronize(); }).join();
    enqueue_empty(stream);
  });
  tell("another thread's device synchronize during a capture, status", status_text(status));
  tell("captures broken by it", good ? 0 : 1, "of 1");
}

}  // namespace gpu_probe
