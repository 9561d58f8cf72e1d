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

/// The names of the events that a graph stamps.
using stamp_names = std::map<cudaEvent_t, std::string>;

using cuda_captures = capture_registry<cuda_capture>;

/// A stream capture in thread-local mode, so that other threads may use other streams. Used only by
/// the capturing thread.
class cuda_capture {
 public:
  /// Puts `origin` in capture mode.
  /// @throws run_error if `origin` is being captured already
  cuda_capture(cuda_engine& engine, cuda_stream& origin);

  /// Abandons the capture unless it is finished, and takes all its streams out of capture mode.
  ~cuda_capture();
  cuda_capture(const cuda_capture&) = delete;
  cuda_capture& operator=(const cuda_capture&) = delete;

  std::uint64_t number() const noexcept { return number_; }
  const std::string& origin_name() const noexcept { return origin_name_; }

  /// Adds a stream that waited for an event of this capture.
  void join(cuda_stream& s);

  /// Stores the name of an event that a graph node stamps.
  void stamped(cudaEvent_t e, const std::string& name) { stamps_[e] = name; }
  stamp_names take_stamps() noexcept { return std::move(stamps_); }

  /// @throws run_error if `origin` did not wait for a joined stream, or a call cannot be captured
  unique_cuda<cudaGraph_t> finish();

 private:
  std::string joined_names() const;

  cuda_engine& engine_;
  const std::string origin_name_;  // other threads read it too
  cudaStream_t origin_;
  std::vector<cuda_stream*> streams_;  // the first stream is the origin
  stamp_names stamps_;
  bool open_ = true;
  std::uint64_t number_ = 0;
};

}  // namespace graphline
