// Probe of switches: what one costs a graph.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "framework/device/cuda/cuda_device.hpp"
#include "tests/bench/gpu_probe/probe.hpp"

namespace gpu_probe {

namespace gl = graphline;

void probe_switches() {
  constexpr std::uint32_t bodies = 8;
  constexpr int launches = 50;
  const auto device = gl::open_cuda_device(0);
  const auto stream = device->make_stream("probe", gl::priority::normal);
  const auto begin = device->make_timed_event("begin");
  const auto end = device->make_timed_event("end");
  const gl::memory selector = device->allocate_pinned(sizeof(std::uint32_t));
  auto* const selected = static_cast<std::uint32_t*>(selector.data());
  const auto kernel = [&] { enqueue_empty(static_cast<cudaStream_t>(stream->native())); };
  const auto stamped = [&](const std::function<void()>& enqueue) {
    const auto graph = device->capture(*stream, [&] {
      stream->stamp(*begin);
      enqueue();
      stream->stamp(*end);
    });
    return graph->instantiate();
  };
  const auto tell_fastest = [&](const char* fact, gl::graph_exec& exec) {
    gl::nanoseconds fastest = INT64_MAX;
    for (int i = 0; i < launches; ++i) {
      stream->launch(exec);
      device->synchronize(gl::wait_mode::spin);
      fastest = std::min(fastest, end->since(*begin));
    }
    tell(fact, static_cast<double>(fastest) / 1e3, "us");
  };
  kernel();  // loads it
  tell_fastest("a kernel in a graph", *stamped(kernel));
  const auto exec = stamped(
      [&] { stream->select(selected, std::vector<std::function<void()>>(bodies, kernel)); });
  *selected = 0;
  tell_fastest("a kernel in the first of 8 bodies of a switch", *exec);
  *selected = bodies - 1;
  tell_fastest("a kernel in the last of 8 bodies of a switch", *exec);
  *selected = bodies;
  tell_fastest("a switch of 8 that selects no body", *exec);
}

}  // namespace gpu_probe
