#include "framework/device/cuda/cuda_capture.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "framework/device/cuda/cuda_engine.hpp"
#include "framework/device/cuda/cuda_stream.hpp"

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
