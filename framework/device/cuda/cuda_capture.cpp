#include "framework/device/cuda/cuda_capture.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "framework/device/cuda/cuda_engine.hpp"
#include "framework/device/cuda/cuda_stream.hpp"
#include "framework/device/cuda/cuda_versions.hpp"
#include "framework/device/cuda/switch_kernel.hpp"

namespace graphline {

cuda_capture::cuda_capture(cuda_engine& engine, cuda_stream& origin)
    : engine_(engine), origin_name_(origin.name()), origin_(origin.handle()) {
  if (origin.capture() != nullptr) {
    throw run_error(fmt::format("stream '{}' is being captured already; a capture cannot be nested",
                                origin_name_));
  }
  engine_.make_current();
  engine_.check(cudaStreamBeginCapture(origin_, cudaStreamCaptureModeThreadLocal),
                "cudaStreamBeginCapture", {"stream", origin_name_});
  streams_.push_back(&origin);
  origin.set_capture(this);
  number_ = engine_.captures.add(*this);
}

cuda_capture::~cuda_capture() {
  if (open_) {
    // Discards the incomplete graph and any error from ending the capture.
    cudaGraph_t abandoned = nullptr;
    static_cast<void>(cudaStreamEndCapture(origin_, &abandoned));
    unique_cuda<cudaGraph_t>(abandoned).reset();
    static_cast<void>(cudaGetLastError());
  }
  for (cuda_stream* s : streams_) s->set_capture(nullptr);
  engine_.captures.remove(*this);
}

void cuda_capture::join(cuda_stream& s) {
  if (s.capture() == this) return;
  if (s.capture() != nullptr) {
    throw run_error(
        fmt::format("streams '{}' and '{}' are in different captures, which cannot be merged",
                    origin_name_, s.name()));
  }
  streams_.push_back(&s);
  s.set_capture(this);
}

void cuda_capture::refuse_in_body(const char* what) const {
  if (switched_ != nullptr) graphline::refuse_in_body(switched_->name(), what);
}

void cuda_capture::select(cuda_stream& s, const std::uint32_t* selector,
                          std::span<const std::function<void()>> bodies) {
  refuse_in_body("switch");
  engine_.make_current();
  // A captured stream cannot capture into another graph.
  const unique_cuda<cudaStream_t> apart = make_body_stream(s);
  const std::vector<cudaGraph_t>& graphs = add_switch(s, selector, bodies.size());
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    capture_body(s, apart.get(), graphs[i], bodies[i]);
  }
}

/// Returns a stream whose kernel nodes have the priority of those of `s`.
unique_cuda<cudaStream_t> cuda_capture::make_body_stream(const cuda_stream& s) {
  const cuda_subject subject{"stream", s.name()};
  const auto exchange = [&](cudaStreamCaptureMode& mode) {
    engine_.check(cudaThreadExchangeStreamCaptureMode(&mode), "cudaThreadExchangeStreamCaptureMode",
                  subject);
  };
  // In other modes, CUDA may refuse to make a stream.
  auto mode = cudaStreamCaptureModeRelaxed;
  exchange(mode);
  cudaStream_t made = nullptr;
  const cudaError_t status =
      cudaStreamCreateWithPriority(&made, cudaStreamNonBlocking, s.urgency());
  unique_cuda<cudaStream_t> apart(made);
  exchange(mode);
  engine_.check(status, "cudaStreamCreateWithPriority", subject);
  return apart;
}

const std::vector<cudaGraph_t>& cuda_capture::add_switch(const cuda_stream& s,
                                                         const std::uint32_t* selector,
                                                         std::size_t bodies) {
  const cuda_subject subject{"stream", s.name()};
  const auto size = static_cast<unsigned>(bodies);
  cudaStreamCaptureStatus status{};
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* after = nullptr;
  std::size_t count = 0;
  engine_.check(
      cudaStreamGetCaptureInfo(s.handle(), &status, nullptr, &graph, nullptr, nullptr, nullptr),
      "cudaStreamGetCaptureInfo", subject);
  cudaGraphNodeParams node{};
  node.type = cudaGraphNodeTypeConditional;
  node.conditional.type = cudaGraphCondTypeSwitch;
  node.conditional.size = size;
  engine_.check(cudaGraphConditionalHandleCreate(&node.conditional.handle, graph, size,
                                                 cudaGraphCondAssignDefault),
                "cudaGraphConditionalHandleCreate", subject);
  engine_.check(set_condition(s.handle(), node.conditional.handle, selector), "cudaLaunchKernelEx",
                subject);
  // The kernel is now the only dependency.
  engine_.check(
      cudaStreamGetCaptureInfo(s.handle(), &status, nullptr, &graph, &after, nullptr, &count),
      "cudaStreamGetCaptureInfo", subject);
  cudaGraphNode_t made = nullptr;
  engine_.check(cudaGraphAddNode(&made, graph, after, nullptr, count, &node), "cudaGraphAddNode",
                subject);
  engine_.check(cudaStreamUpdateCaptureDependencies(s.handle(), &made, nullptr, 1,
                                                    cudaStreamSetCaptureDependencies),
                "cudaStreamUpdateCaptureDependencies", subject);
  const cudaGraph_t* const graphs = node.conditional.phGraph_out;
  return switches_[made] = {graphs, graphs + bodies};
}

void cuda_capture::capture_body(cuda_stream& s, cudaStream_t apart, cudaGraph_t into,
                                const std::function<void()>& body) {
  const cuda_subject subject{"stream", s.name()};
  engine_.check(cudaStreamBeginCaptureToGraph(apart, into, nullptr, nullptr, 0,
                                              cudaStreamCaptureModeThreadLocal),
                "cudaStreamBeginCaptureToGraph", subject);
  // Ends the capture of the body, whose graph belongs to the conditional node.
  struct ending {
    cuda_stream& s;
    const cuda_stream*& switched;
    cudaStream_t apart;
    cudaStream_t own = s.exchange_handle(apart);
    bool open = true;

    cudaError_t end() {
      cudaGraph_t captured = nullptr;
      const cudaError_t status = cudaStreamEndCapture(apart, &captured);
      open = status != cudaSuccess;
      return status;
    }
    ~ending() {
      switched = nullptr;
      s.exchange_handle(own);
      if (!open) return;
      static_cast<void>(end());
      static_cast<void>(cudaGetLastError());
    }
  } at_end{s, switched_, apart};
  switched_ = &s;
  body();
  engine_.check(at_end.end(), "cudaStreamEndCapture", subject);
}

unique_cuda<cudaGraph_t> cuda_capture::finish() {
  cudaGraph_t made = nullptr;
  const cudaError_t status = cudaStreamEndCapture(origin_, &made);
  unique_cuda<cudaGraph_t> captured(made);
  open_ = status != cudaSuccess;
  if (!open_) return captured;
  if (status == cudaErrorStreamCaptureUnjoined) {
    static_cast<void>(cudaGetLastError());
    throw run_error(fmt::format(
        "{} joined the capture of stream '{}' and was not waited for again; record an event at its "
        "end and wait for it on '{}' before the capture ends",
        joined_names(), origin_name_, origin_name_));
  }
  engine_.fail(status, "cudaStreamEndCapture", {"stream", origin_name_});
}

/// Returns "stream 'side'", or "one of the streams 'a', 'b'" if there are several.
std::string cuda_capture::joined_names() const {
  std::vector<std::string> names;
  for (std::size_t i = 1; i < streams_.size(); ++i) {
    names.push_back(fmt::format("'{}'", streams_[i]->name()));
  }
  return fmt::format("{} {}", names.size() == 1 ? "stream" : "one of the streams",
                     fmt::join(names, ", "));
}

}  // namespace graphline
