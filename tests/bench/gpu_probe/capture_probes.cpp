// What captures stand, and what graphs tell of their nodes.

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <thread>

#include "framework/device/cuda/cuda_device.hpp"
#include "framework/device/cuda/cuda_graph.hpp"
#include "stages/cuda/cuda_library.hpp"
#include "tests/bench/gpu_probe/probe.hpp"

namespace gpu_probe {
namespace {

namespace gl = graphline;

/// What asking for a node's parameters gives: its kind and a status.
std::string node_text(cudaGraphNode_t node) {
  cudaGraphNodeType type{};
  check(cudaGraphNodeGetType(node, &type), "cudaGraphNodeGetType");
  switch (type) {
    case cudaGraphNodeTypeKernel: {
      cudaKernelNodeParams parameters{};
      const cudaError_t status = cudaGraphKernelNodeGetParams(node, &parameters);
      return fmt::format("kernel {}: {}, grid {}", gl::kernel_name(node), status_text(status),
                         parameters.gridDim.x);
    }
    case cudaGraphNodeTypeMemcpy: {
      cudaMemcpy3DParms parameters{};
      const cudaError_t status = cudaGraphMemcpyNodeGetParams(node, &parameters);
      return fmt::format("copy: {}, kind {}, width {}", status_text(status),
                         static_cast<int>(parameters.kind), parameters.extent.width);
    }
    case cudaGraphNodeTypeMemset: {
      cudaMemsetParams parameters{};
      const cudaError_t status = cudaGraphMemsetNodeGetParams(node, &parameters);
      return fmt::format("fill: {}, {} x {} of {} bytes", status_text(status), parameters.width,
                         parameters.height, parameters.elementSize);
    }
    case cudaGraphNodeTypeHost: {
      cudaHostNodeParams parameters{};
      return "call: " + status_text(cudaGraphHostNodeGetParams(node, &parameters));
    }
    default:
      return fmt::format("type {}", static_cast<int>(type));
  }
}

void tell_nodes(const std::string& fact, cudaGraph_t graph) {
  std::size_t count = 0;
  check(cudaGraphGetNodes(graph, nullptr, &count), "cudaGraphGetNodes");
  std::vector<cudaGraphNode_t> nodes(count);
  check(cudaGraphGetNodes(graph, nodes.data(), &count), "cudaGraphGetNodes");
  for (cudaGraphNode_t node : nodes) {
    tell(fact, node_text(node));
    static_cast<void>(cudaGetLastError());  // a status that was told stands in no later way
  }
}

std::byte* device_memory(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "cudaMalloc");
  check(cudaMemset(memory, 0, bytes), "cudaMemset");
  return static_cast<std::byte*>(memory);
}

/// How its capture ends for a stream that was forked and not joined.
void end_unjoined(const char* fact, bool with_record_node) {
  const cudaStream_t stream = make_stream();
  const cudaStream_t forked = make_stream();
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  enqueue_empty(stream);
  join(forked, stream);
  enqueue_empty(forked);
  if (with_record_node) {
    join(stream, forked);
    record_in_graph(make_event(), forked);
  }
  cudaGraph_t graph = nullptr;
  tell(fact, status_text(cudaStreamEndCapture(stream, &graph)));
  tell(std::string(fact) + ", last error", status_text(cudaGetLastError()));
  tell(std::string(fact) + ", a capture after it",
       captured(stream, [&] { enqueue_empty(stream); }) == nullptr ? "none" : "works");
}

/// A library's operation, once by itself and once captured.
void tell_library(const char* name, gl::library_operation* operation, const std::string& why_not) {
  if (operation == nullptr) {
    tell(name, "no plan: " + why_not);
    return;
  }
  constexpr std::size_t bytes = std::size_t{8} << 20;
  const std::array<void*, 3> operands = {device_memory(bytes), device_memory(bytes),
                                         device_memory(bytes)};
  void* const workspace = device_memory(operation->workspace_bytes() + 1);
  const cudaStream_t stream = make_stream();
  operation->enqueue(stream, operands, workspace);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  tell(name, operation->choice());
  tell_nodes(std::string(name) + ", node",
             captured(stream, [&] { operation->enqueue(stream, operands, workspace); }));
}

}  // namespace

void probe_unjoined_capture() {
  end_unjoined("a kernel not joined", false);
  end_unjoined("a record node not joined", true);
}

void probe_disturbed_capture() {
  const cudaStream_t stream = make_stream();
  const cudaStream_t other_stream = make_stream();
  const cudaEvent_t event = make_event(cudaEventDisableTiming);
  record(event, other_stream);
  constexpr std::array names = {"event query", "stream synchronize", "device synchronize"};
  for (std::size_t how = 0; how < names.size(); ++how) {
    std::atomic<bool> stop = false;
    std::thread other([&] {
      while (!stop) {
        if (how == 0) static_cast<void>(cudaEventQuery(event));
        if (how == 1) static_cast<void>(cudaStreamSynchronize(other_stream));
        if (how == 2) static_cast<void>(cudaDeviceSynchronize());
      }
    });
    int broken = 0;
    for (int i = 0; i < 200; ++i) {
      try {
        captured(stream, [&] {
          for (int k = 0; k < 20; ++k) enqueue_empty(stream);
        });
      } catch (const std::exception&) {
        ++broken;
        cudaStreamCaptureStatus status{};
        cudaGraph_t graph = nullptr;
        static_cast<void>(cudaStreamIsCapturing(stream, &status));
        if (status != cudaStreamCaptureStatusNone) {
          static_cast<void>(cudaStreamEndCapture(stream, &graph));
        }
        static_cast<void>(cudaGetLastError());
      }
    }
    stop = true;
    other.join();
    tell(std::string("captures broken by another thread's ") + names[how], broken, "of 200");
  }
}

void probe_node_parameters() {
  constexpr std::size_t bytes = 4096;
  std::byte* const on_device = device_memory(2 * bytes);
  void* pinned = nullptr;
  check(cudaMallocHost(&pinned, bytes), "cudaMallocHost");
  const cudaStream_t stream = make_stream();
  tell_nodes("captured node", captured(stream, [&] {
               check(cudaMemcpyAsync(on_device, pinned, bytes, cudaMemcpyDefault, stream),
                     "cudaMemcpyAsync");
               check(
                   cudaMemcpyAsync(on_device + bytes, on_device, bytes, cudaMemcpyDefault, stream),
                   "cudaMemcpyAsync");
               check(cudaMemcpyAsync(pinned, on_device, bytes, cudaMemcpyDeviceToHost, stream),
                     "cudaMemcpyAsync");
               check(cudaMemsetAsync(on_device, 0, bytes, stream), "cudaMemsetAsync");
               check(cudaLaunchHostFunc(
                         stream, [](void*) {}, nullptr),
                     "cudaLaunchHostFunc");
               enqueue_empty(stream);
             }));
}

void probe_library_nodes() {
  const auto device = gl::open_cuda_device(0);
  gl::use_cuda_device(*device);
  const auto libraries = gl::open_cuda_libraries(*device, false, "the probe");
  std::string why_not;
  gl::product_form product;
  product.m = product.n = product.k = 256;
  product.a_leading = product.b_leading = product.d_leading = 256;
  product.precision = gl::precision::float16;
  tell_library("a product", libraries->plan(product, why_not).get(), why_not);
  gl::convolution_form convolution;
  convolution.batch = 8;
  convolution.in_channels = 64;
  convolution.in = convolution.out = {32, 32};
  convolution.conv.out_channels = 64;
  convolution.conv.kernel = {3, 3};
  convolution.conv.padding = {1, 1};
  convolution.conv.bias = false;
  convolution.precision = gl::precision::float16;
  tell_library("a convolution", libraries->plan(convolution, why_not).get(), why_not);
}

}  // namespace gpu_probe
