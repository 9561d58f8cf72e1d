#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <map>
#include <span>
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

/// The bodies of a graph's switches.
using switch_bodies = std::map<cudaGraphNode_t, std::vector<cudaGraph_t>>;

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

  /// Adds a conditional node and captures its bodies. Commands of `s` go to a body meanwhile.
  void select(cuda_stream& s, const std::uint32_t* selector,
              std::span<const std::function<void()>> bodies);
  switch_bodies take_switches() noexcept { return std::move(switches_); }

  /// @throws run_error in a body, which cannot contain a `what`
  void refuse_in_body(const char* what) const;

  /// Stores the name of an event that a graph node stamps.
  void stamped(cudaEvent_t e, const std::string& name) { stamps_[e] = name; }
  stamp_names take_stamps() noexcept { return std::move(stamps_); }

  /// @throws run_error if `origin` did not wait for a joined stream, or a call cannot be captured
  unique_cuda<cudaGraph_t> finish();

 private:
  std::string joined_names() const;
  unique_cuda<cudaStream_t> make_body_stream(const cuda_stream& s);
  const std::vector<cudaGraph_t>& add_switch(const cuda_stream& s, const std::uint32_t* selector,
                                             std::size_t bodies);
  void capture_body(cuda_stream& s, cudaStream_t apart, cudaGraph_t into,
                    const std::function<void()>& body);

  cuda_engine& engine_;
  const std::string origin_name_;  // other threads read it too
  cudaStream_t origin_;
  std::vector<cuda_stream*> streams_;  // the first stream is the origin
  stamp_names stamps_;
  switch_bodies switches_;
  const cuda_stream* switched_ = nullptr;  // the stream whose body is captured; else null
  bool open_ = true;
  std::uint64_t number_ = 0;
};

}  // namespace graphline
