#include "tests/bench/gpu_probe/probe.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "framework/device/cuda/cuda_calls.hpp"

namespace gpu_probe {
namespace {

void print_line(const nlohmann::ordered_json& line) {
  const auto replace = nlohmann::ordered_json::error_handler_t::replace;
  fmt::print("{}\n", line.dump(-1, ' ', false, replace));
  std::fflush(stdout);
}

}  // namespace

void tell(const std::string& fact, double value, const std::string& unit) {
  print_line({{"fact", fact}, {"value", value}, {"unit", unit}});
}

void tell(const std::string& fact, const std::string& text) {
  print_line({{"fact", fact}, {"text", text}});
}

void check(cudaError_t status, const char* call) {
  graphline::check_cuda(status, call, "the probe");
}

std::string status_text(cudaError_t status) {
  if (status == cudaSuccess) return cudaGetErrorName(status);
  return fmt::format("{} ({})", cudaGetErrorName(status), static_cast<int>(status));
}

cudaStream_t make_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  return stream;
}

cudaEvent_t make_event(unsigned flags) {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, flags), "cudaEventCreateWithFlags");
  return event;
}

void record(cudaEvent_t event, cudaStream_t stream) {
  check(cudaEventRecord(event, stream), "cudaEventRecord");
}

void record_in_graph(cudaEvent_t event, cudaStream_t stream) {
  check(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal),
        "cudaEventRecordWithFlags");
}

void join(cudaStream_t stream, cudaStream_t other) {
  const cudaEvent_t event = make_event(cudaEventDisableTiming);
  record(event, other);
  check(cudaStreamWaitEvent(stream, event, 0), "cudaStreamWaitEvent");
}

bool is_done(cudaEvent_t event) {
  const cudaError_t status = cudaEventQuery(event);
  if (status == cudaSuccess) return true;
  static_cast<void>(cudaGetLastError());
  if (status != cudaErrorNotReady) check(status, "cudaEventQuery");
  return false;
}

double microseconds(cudaEvent_t from, cudaEvent_t to) {
  check(cudaEventSynchronize(to), "cudaEventSynchronize");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, from, to), "cudaEventElapsedTime");
  return static_cast<double>(milliseconds) * 1e3;
}

cudaGraph_t captured(cudaStream_t stream, const std::function<void()>& enqueue) {
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  enqueue();
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  return graph;
}

cudaGraphExec_t executable(cudaGraph_t graph, cudaStream_t stream) {
  cudaGraphExec_t made = nullptr;
  check(cudaGraphInstantiate(&made, graph, 0), "cudaGraphInstantiate");
  check(cudaGraphUpload(made, stream), "cudaGraphUpload");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return made;
}

double now_us() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(since).count();
}

}  // namespace gpu_probe
