#include "tests/device/cuda/fake/objects.hpp"

#include <algorithm>

#include "framework/device/cuda/cuda_versions.hpp"
#include "tests/device/cuda/fake/api.hpp"

namespace fake_cuda {
namespace {

std::vector<capture_ref> going_on() {
  std::vector<capture_ref> found;
  for (const auto& s : objects().streams) {
    if (s->capture != nullptr && s->capture->origin == s.get()) found.push_back(s->capture);
  }
  return found;
}

/// How much the calling thread cares about unsafe calls (cudaThreadExchangeStreamCaptureMode).
thread_local cudaStreamCaptureMode mode_of_thread = cudaStreamCaptureModeGlobal;

void add_new(node_list& to, const node_list& from) {
  for (const cudaGraphNode_t n : from) {
    if (std::ranges::find(to, n) == to.end()) to.push_back(n);
  }
}

/// Whether all nodes of the graph are `ends` or before these.
bool reaches_all(const CUgraph_st& graph, node_list ends) {
  for (std::size_t i = 0; i < ends.size(); ++i) add_new(ends, node_list(ends[i]->after));
  return ends.size() == graph.nodes.size();
}

/// Takes every stream out of a capture.
void end(const capture_ref& c) {
  c->ended = true;
  for (const cudaStream_t s : c->streams) {
    if (!objects().streams.has(s)) continue;
    s->capture.reset();
    s->heads.clear();
  }
}

}  // namespace

cudaError_t refuse_unsafe() {
  cudaError_t status = cudaSuccess;
  if (mode_of_thread == cudaStreamCaptureModeRelaxed) return status;
  for (const capture_ref& c : going_on()) {
    const bool ours = c->thread == std::this_thread::get_id();
    const bool minds =
        ours ? c->mode != cudaStreamCaptureModeRelaxed : c->mode == cudaStreamCaptureModeGlobal;
    if (!minds) continue;
    c->invalidated = true;
    status = cudaErrorStreamCaptureUnsupported;
  }
  return status;
}

cudaError_t refuse_while_captured(int device) {
  cudaError_t status = refuse_unsafe();
  for (const capture_ref& c : going_on()) {
    if (c->origin->device != device) continue;
    c->invalidated = true;
    status = cudaErrorStreamCaptureUnsupported;
  }
  return status;
}

cudaError_t usable(cudaStream_t s) {
  if (!objects().streams.has(s)) return cudaErrorInvalidResourceHandle;
  if (s->capture != nullptr && s->capture->invalidated) return cudaErrorStreamCaptureInvalidated;
  return cudaSuccess;
}

cudaError_t usable_for_launch(cudaStream_t s) {
  const cudaError_t status = usable(s);
  if (status == cudaSuccess && s->device != current_device()) return cudaErrorInvalidResourceHandle;
  return status;
}

cudaError_t refuse_captured(const CUevent_st& e) {
  if (e.captured == nullptr) return cudaSuccess;
  e.captured->invalidated = true;
  return cudaErrorCapturedEvent;
}

void capture_node(CUstream_st& s, const operation_ref& what) {
  auto node = std::make_unique<CUgraphNode_st>();
  node->what = what;
  node->after = std::exchange(s.heads, {node.get()});
  s.capture->graph->nodes.push_back(std::move(node));
}

cudaError_t capture_wait(CUstream_st& s, const CUevent_st& e) {
  const bool is_open = e.captured != nullptr && !e.captured->ended;
  if (!is_open) {
    // Outside a capture the event stands for a point that no stream will ever pass.
    if (s.capture == nullptr) return cudaErrorCapturedEvent;
    s.capture->invalidated = true;
    return cudaErrorStreamCaptureIsolation;
  }
  if (e.captured->invalidated) return cudaErrorStreamCaptureInvalidated;
  if (s.capture == nullptr) {
    s.capture = e.captured;
    s.capture->streams.insert(&s);
  } else if (s.capture != e.captured) {
    s.capture->invalidated = true;
    e.captured->invalidated = true;
    return cudaErrorStreamCaptureMerge;
  }
  add_new(s.heads, e.captured_after);
  return cudaSuccess;
}

}  // namespace fake_cuda

using namespace fake_cuda;

namespace {

/// Begins a capture into a graph of its own, or into a body.
cudaError_t begin(cudaStream_t stream, cudaGraph_t body, cudaStreamCaptureMode mode) {
  if (const cudaError_t status = usable(stream); status != cudaSuccess) return status;
  if (stream->capture != nullptr) return cudaErrorIllegalState;
  auto c = std::make_shared<capture>();
  c->mode = mode;
  c->thread = std::this_thread::get_id();
  c->origin = stream;
  c->into_body = body != nullptr;
  c->graph = c->into_body ? body : objects().graphs.add();
  c->graph->device = stream->device;
  c->streams.insert(stream);
  stream->capture = std::move(c);
  return cudaSuccess;
}

/// The capture of a stream that is to be asked about or changed.
cudaError_t refuse_unless_captured(cudaStream_t stream) {
  const cudaError_t status = usable(stream);
  if (status == cudaSuccess && stream->capture == nullptr) return cudaErrorIllegalState;
  return status;
}

}  // namespace

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return api("cudaStreamBeginCapture", [&](locked&) { return begin(stream, nullptr, mode); });
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t* /*after*/,
                                          const cudaGraphEdgeData* /*data*/, size_t count,
                                          cudaStreamCaptureMode mode) {
  return api("cudaStreamBeginCaptureToGraph", [&](locked&) {
    if (!objects().graphs.has(graph)) return cudaErrorInvalidValue;
    // This project captures only into bodies that are empty.
    if (count != 0 || !graph->is_body || !graph->nodes.empty()) return cudaErrorNotSupported;
    return begin(stream, graph, mode);
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return api("cudaThreadExchangeStreamCaptureMode", [&](locked&) {
    *mode = std::exchange(mode_of_thread, *mode);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* /*id*/, cudaGraph_t* graph,
                                     const cudaGraphNode_t** after,
                                     const cudaGraphEdgeData** /*data*/, size_t* count) {
  return api("cudaStreamGetCaptureInfo", [&](locked&) {
    if (const auto refused = refuse_unless_captured(stream); refused != cudaSuccess) return refused;
    *status = cudaStreamCaptureStatusActive;
    *graph = stream->capture->graph;
    if (after != nullptr) *after = stream->heads.data();
    if (count != nullptr) *count = stream->heads.size();
    return cudaSuccess;
  });
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* after,
                                                const cudaGraphEdgeData* /*data*/, size_t count,
                                                unsigned flags) {
  return api("cudaStreamUpdateCaptureDependencies", [&](locked&) {
    if (const auto refused = refuse_unless_captured(stream); refused != cudaSuccess) return refused;
    if (flags != cudaStreamSetCaptureDependencies) return cudaErrorNotSupported;
    stream->heads.assign(after, after + count);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return api("cudaStreamEndCapture", call_kind::releasing, [&](locked&) {
    *graph = nullptr;
    if (!objects().streams.has(stream)) return cudaErrorInvalidResourceHandle;
    const capture_ref c = stream->capture;
    if (c == nullptr) return cudaErrorIllegalState;
    if (c->origin != stream) {
      c->invalidated = true;
      return cudaErrorStreamCaptureUnmatched;
    }
    if (c->mode != cudaStreamCaptureModeRelaxed && c->thread != std::this_thread::get_id()) {
      return cudaErrorStreamCaptureWrongThread;
    }
    cudaError_t status = cudaSuccess;
    if (c->invalidated) {
      status = cudaErrorStreamCaptureInvalidated;
    } else if (!reaches_all(*c->graph, stream->heads)) {
      status = cudaErrorStreamCaptureUnjoined;
    }
    end(c);
    if (status == cudaSuccess) {
      *graph = c->graph;
    } else if (!c->into_body) {
      remove_graph(c->graph);
    }
    return status;
  });
}
