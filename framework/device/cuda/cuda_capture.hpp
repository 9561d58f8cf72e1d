#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "framework/device/backend_parts.hpp"
#include "framework/device/cuda/cuda_calls.hpp"

namespace graphline {

class cuda_capture;
class cuda_stream;
struct cuda_engine;

/// Names of the events that a graph stamps: CUDA knows them by handle only.
using stamp_names = std::map<cudaEvent_t, std::string>;

using cuda_captures = capture_registry<cuda_capture>;

/// One capture, from its beginning to its end, whichever way it ends; ThreadLocal, so that other
/// threads may go on with other streams. Belongs to the thread that runs it.
class cuda_capture {
 public:
  /// Puts `origin` in capture mode. Throws `run_error` when it is in a capture already.
  cuda_capture(cuda_engine& engine, cuda_stream& origin);

  /// Ends the capture, if it was not finished, and takes every stream out of it.
  ~cuda_capture();
  cuda_capture(const cuda_capture&) = delete;
  cuda_capture& operator=(const cuda_capture&) = delete;

  std::uint64_t number() const noexcept { return number_; }
  const std::string& origin_name() const noexcept { return origin_name_; }

  /// A stream has waited for an event of this capture and is part of it from now on.
  void join(cuda_stream& s);

  /// An event is stamped by a node of the graph.
  void stamped(cudaEvent_t e, const std::string& name) { stamps_[e] = name; }
  stamp_names take_stamps() noexcept { return std::move(stamps_); }

  /// The captured graph. Throws `run_error` when a stream was not joined
  /// to the origin again, or a call was made that cannot be captured.
  unique_cuda<cudaGraph_t> finish();

 private:
  std::string joined_names() const;

  cuda_engine& engine_;
  const std::string origin_name_;  // apart from the streams, since other threads may ask for it
  cudaStream_t origin_;
  std::vector<cuda_stream*> streams_;  // the first is the origin
  stamp_names stamps_;
  bool open_ = true;
  std::uint64_t number_ = 0;
};

}  // namespace graphline
