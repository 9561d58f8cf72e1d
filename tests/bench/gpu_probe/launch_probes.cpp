// What launches, nodes and priorities do to the host's time and to the device's.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "tests/bench/gpu_probe/probe.hpp"

namespace gpu_probe {
namespace {

/// A straight line of kernels, with an event at the beginning and after each where there are any.
cudaGraph_t line_of(cudaStream_t stream, int kernels, long long nanoseconds,
                    const std::vector<cudaEvent_t>& events) {
  return captured(stream, [&] {
    auto event = events.begin();
    if (event != events.end()) record_in_graph(*event++, stream);
    for (int i = 0; i < kernels; ++i) {
      nanoseconds == 0 ? enqueue_empty(stream) : enqueue_busy(stream, nanoseconds);
      if (event != events.end()) record_in_graph(*event++, stream);
    }
  });
}

/// Median microseconds of the device for a launch.
double device_us(cudaGraphExec_t graph, cudaStream_t stream) {
  const cudaEvent_t begin = make_event();
  const cudaEvent_t end = make_event();
  std::vector<double> times;
  for (int i = 0; i < 60; ++i) {
    record(begin, stream);
    check(cudaGraphLaunch(graph, stream), "cudaGraphLaunch");
    record(end, stream);
    const double us = microseconds(begin, end);
    if (i >= 10) times.push_back(us);
  }
  return median(times);
}

}  // namespace

void probe_launches() {
  const cudaStream_t stream = make_stream();
  const cudaStream_t other = make_stream();
  const cudaEvent_t timed = make_event();
  const cudaEvent_t untimed = make_event(cudaEventDisableTiming);
  for (int i = 0; i < 1000; ++i) enqueue_empty(stream);
  constexpr int calls = 200;
  tell("kernel launch", host_us(stream, calls, [&] { enqueue_empty(stream); }), "us");
  tell("record, timed", host_us(stream, calls, [&] { record(timed, stream); }), "us");
  tell("record, untimed", host_us(stream, calls, [&] { record(untimed, stream); }), "us");
  tell("query", host_us(stream, calls, [&] { static_cast<void>(is_done(untimed)); }), "us");
  tell("wait of a stream",
       host_us(stream, calls,
               [&] { check(cudaStreamWaitEvent(other, untimed, 0), "cudaStreamWaitEvent"); }),
       "us");
  for (const int nodes : {1, 10, 100, 1000}) {
    const cudaGraph_t line = line_of(stream, nodes, 0, {});
    const double begin = now_us();
    cudaGraphExec_t made = nullptr;
    check(cudaGraphInstantiate(&made, line, 0), "cudaGraphInstantiate");
    tell(fmt::format("instantiating {} nodes", nodes), now_us() - begin, "us");
    const auto launch = [&] { check(cudaGraphLaunch(made, stream), "cudaGraphLaunch"); };
    tell(fmt::format("graph launch, {} nodes", nodes), host_us(stream, 20, launch), "us");
    tell(fmt::format("graph of {} empty kernels, device", nodes), device_us(made, stream), "us");
  }
}

void probe_event_nodes() {
  struct line {
    int kernels;
    long long nanoseconds;
  };
  const cudaStream_t stream = make_stream();
  for (const line each : {line{10, 100'000}, line{10, 10'000}, line{100, 2'000}}) {
    std::vector<cudaEvent_t> events(static_cast<std::size_t>(each.kernels) + 1);
    for (cudaEvent_t& event : events) event = make_event();
    const auto ready = [&](const std::vector<cudaEvent_t>& with) {
      return executable(line_of(stream, each.kernels, each.nanoseconds, with), stream);
    };
    const cudaGraphExec_t clean = ready({});
    const cudaGraphExec_t timed = ready(events);
    const double before = device_us(clean, stream);
    const double with_events = device_us(timed, stream);
    const double without = std::min(before, device_us(clean, stream));
    double sum = 0;
    for (std::size_t i = 1; i < events.size(); ++i) sum += microseconds(events[i - 1], events[i]);
    const std::string of =
        fmt::format("{} kernels of {} us", each.kernels, each.nanoseconds / 1000);
    tell(of + ", clean", without, "us");
    tell(of + ", with event nodes", with_events, "us");
    tell(of + ", sum of intervals", sum, "us");
    tell(of + ", cost of an event node",
         (with_events - without) / static_cast<double>(events.size()), "us");
  }
}

void probe_priorities() {
  int least = 0;
  int greatest = 0;
  int processors = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0),
        "cudaDeviceGetAttribute");
  tell("stream priorities", fmt::format("{} (least) to {} (greatest)", least, greatest));
  const cudaStream_t low = make_stream(least);
  for (const auto& [name, priority] :
       {std::pair{"the same priority", least}, std::pair{"the highest priority", greatest}}) {
    const cudaStream_t stream = make_stream(priority);
    std::vector<double> times;
    for (int i = 0; i < 20; ++i) {
      check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
      // Some twenty times what fits on the device at once.
      enqueue_busy(low, 100'000, static_cast<unsigned>(processors) * 32 * 20);
      std::this_thread::sleep_for(std::chrono::microseconds(300));
      const double begin = now_us();
      enqueue_busy(stream, 1'000, 8);
      check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
      times.push_back(now_us() - begin);
    }
    tell(std::string("a short kernel behind a long grid, ") + name, median(times), "us");
  }
}

}  // namespace gpu_probe
