// Probes of event time stamps.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/bench/gpu_probe/probe.hpp"

namespace gpu_probe {
namespace {

/// The smallest difference between two values beyond rounding; 0 if all agree.
double smallest_step(std::vector<double> values) {
  constexpr double rounding = 0.5;  // ns, of a float of milliseconds
  std::ranges::sort(values);
  double smallest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double step = values[i] - values[i - 1];
    if (step > rounding) smallest = std::min(smallest, step);
  }
  return std::isfinite(smallest) ? smallest : 0;
}

/// An event, and the interval of host time that contains it.
struct bracketed {
  cudaEvent_t event = nullptr;
  double middle_us = 0;
  double width_us = std::numeric_limits<double>::infinity();
};

/// The event with the narrowest interval.
bracketed bracket(cudaStream_t stream) {
  bracketed narrowest;
  for (int i = 0; i < 200; ++i) {
    const cudaEvent_t event = make_event();
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    const double begin = now_us();
    record(event, stream);
    while (!is_done(event)) {
    }
    const double end = now_us();
    if (end - begin < narrowest.width_us) narrowest = {event, (begin + end) / 2, end - begin};
  }
  return narrowest;
}

}  // namespace

void probe_ticks() {
  const cudaStream_t stream = make_stream();
  const cudaEvent_t begin = make_event();
  const cudaEvent_t end = make_event();
  std::vector<double> times;
  for (int i = 0; i < 600; ++i) {
    record(begin, stream);
    if (i % 2 == 1) enqueue_busy(stream, 50 * i);
    record(end, stream);
    times.push_back(microseconds(begin, end) * 1e3);
  }
  tell("event tick", smallest_step(times), "ns");
  tell("shortest pair", *std::ranges::min_element(times), "ns");
  tell("pairs of equal stamps", static_cast<double>(std::ranges::count(times, 0.0)), "of 600");
  tell("pairs with a negative time",
       static_cast<double>(std::ranges::count_if(times, [](double ns) { return ns < 0; })),
       "of 600");

  constexpr int count = 64;
  std::array<long long, count> changes{};
  void* on_device = nullptr;
  check(cudaMalloc(&on_device, sizeof(changes)), "cudaMalloc");
  enqueue_timer_changes(stream, static_cast<long long*>(on_device), count);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  check(cudaMemcpy(changes.data(), on_device, sizeof(changes), cudaMemcpyDeviceToHost),
        "cudaMemcpy");
  long long step = std::numeric_limits<long long>::max();
  for (std::size_t i = 2; i < changes.size(); ++i) {  // the first may be incomplete
    step = std::min(step, changes[i] - changes[i - 1]);
  }
  tell("globaltimer step", static_cast<double>(step), "ns");
}

void probe_drift() {
  const cudaStream_t stream = make_stream();
  const bracketed first = bracket(stream);
  const double end = now_us() + 3e6;
  while (now_us() < end) {
    enqueue_busy(stream, 1'000'000);
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
  const bracketed last = bracket(stream);
  const double host = last.middle_us - first.middle_us;
  const double on_device = microseconds(first.event, last.event);
  tell("narrowest bracket of an event", std::min(first.width_us, last.width_us), "us");
  tell("drift of the device's clock", (on_device / host - 1) * 1e6, "ppm");
  tell("error of the drift", (first.width_us + last.width_us) / 2 / host * 1e6, "ppm");
}

void probe_record_nodes() {
  const cudaStream_t stream = make_stream();
  std::array<cudaEvent_t, 4> events{};
  for (cudaEvent_t& event : events) event = make_event();
  const cudaGraphExec_t graph = executable(captured(stream,
                                                    [&] {
                                                      record_in_graph(events[1], stream);
                                                      enqueue_busy(stream, 20'000);
                                                      record_in_graph(events[2], stream);
                                                    }),
                                           stream);
  for (const char* launch : {"first", "second"}) {
    record(events[0], stream);
    check(cudaGraphLaunch(graph, stream), "cudaGraphLaunch");
    record(events[3], stream);
    const std::string of = std::string(", ") + launch + " launch";
    tell("record to record node" + of, microseconds(events[0], events[1]), "us");
    tell("20 us between record nodes" + of, microseconds(events[1], events[2]), "us");
    tell("record node to record" + of, microseconds(events[2], events[3]), "us");
    tell("record to record" + of, microseconds(events[0], events[3]), "us");
  }
}

void probe_negative_times() {
  const cudaStream_t stream = make_stream();
  const cudaStream_t other = make_stream();
  const cudaEvent_t first = make_event();
  const cudaEvent_t second = make_event();
  const auto backwards = [&](const char* fact, cudaStream_t later) {
    record(first, stream);
    enqueue_busy(stream, 100'000);
    if (later == other) join(other, stream);
    record(second, later);
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    float milliseconds = 0;
    const cudaError_t status = cudaEventElapsedTime(&milliseconds, second, first);
    tell(std::string(fact) + ", status", status_text(status));
    static_cast<void>(cudaGetLastError());  // clears the reported error
    tell(fact, static_cast<double>(milliseconds) * 1e3, "us");
  };
  backwards("100 us backwards on a stream", stream);
  backwards("100 us backwards across streams", other);
}

}  // namespace gpu_probe
