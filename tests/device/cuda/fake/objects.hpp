#pragma once

// What is behind the handles.

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/device/cuda/fake/machine.hpp"

namespace fake_cuda {

/// A capture that goes on, or that some event remembers.
struct capture {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;
  cudaStream_t origin = nullptr;
  cudaGraph_t graph = nullptr;
  std::set<cudaStream_t> streams;
  bool into_body = false;  ///< the graph is a body, which belongs to its switch
  bool invalidated = false;
  bool ended = false;
};
using capture_ref = std::shared_ptr<capture>;

using node_list = std::vector<cudaGraphNode_t>;

}  // namespace fake_cuda

struct CUstream_st {
  int device = 0;
  int priority = 0;
  fake_cuda::task_ref last;
  std::shared_ptr<std::size_t> queue = std::make_shared<std::size_t>(0);
  fake_cuda::capture_ref capture;
  fake_cuda::node_list heads;  ///< in a capture: what the next node depends on
};

struct CUevent_st {
  int device = 0;
  unsigned flags = 0;
  fake_cuda::task_ref recording;
  fake_cuda::capture_ref captured;  ///< when the latest recording was one in a capture
  fake_cuda::node_list captured_after;
};

struct CUgraphNode_st {
  fake_cuda::operation_ref what;
  fake_cuda::node_list after;
  std::vector<cudaGraph_t> bodies;  ///< of a conditional node
};

struct CUgraph_st {
  int device = 0;
  bool is_body = false;
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
  std::vector<std::shared_ptr<fake_cuda::condition>> conditions;  ///< a handle is its address
};

struct CUgraphExec_st {
  int device = 0;
  cudaGraph_t graph = nullptr;
  std::vector<std::shared_ptr<fake_cuda::condition>> conditions;
  bool node_priorities = false;
  std::shared_ptr<const fake_cuda::plan> nodes;
  fake_cuda::task_ref last;  ///< the end of the latest launch, which the next one waits for
};

namespace fake_cuda {

/// The objects that exist; a handle that is not in them was destroyed or never was one.
template <class T>
class registry {
 public:
  T* add() { return kept_.emplace(std::make_unique<T>()).first->get(); }
  bool has(const T* object) const { return kept_.contains(object); }
  void remove(const T* object) { kept_.erase(kept_.find(object)); }
  void clear() { kept_.clear(); }
  int size() const { return static_cast<int>(kept_.size()); }
  auto begin() const { return kept_.begin(); }
  auto end() const { return kept_.end(); }

 private:
  struct by_address {
    using is_transparent = void;
    static const T* address(const T* object) { return object; }
    static const T* address(const std::unique_ptr<T>& object) { return object.get(); }
    bool operator()(const auto& a, const auto& b) const {
      return std::less<const T*>()(address(a), address(b));
    }
  };
  std::set<std::unique_ptr<T>, by_address> kept_;
};

struct object_table {
  registry<CUstream_st> streams;
  registry<CUevent_st> events;
  registry<CUgraph_st> graphs;
  registry<CUgraphExec_st> executables;
};

/// Guarded by the machine's mutex.
object_table& objects();

/// Enqueues an operation in a stream, or adds it to the graph that the stream is captured into.
/// Null when there is no such task, that is, in a capture.
task_ref submit(cudaStream_t s, const operation_ref& what);

/// Makes a task the last of a stream, which its queue holds until it is done.
void put_last(cudaStream_t s, const task_ref& t);

/// Waits until there is room in a stream, if it is one.
void wait_for_room(std::unique_lock<std::mutex>& lock, cudaStream_t s);

/// Destroys a graph with the bodies of its switches.
void remove_graph(cudaGraph_t graph);

/// Enqueues the nodes of a graph after `before`. Returns the task that ends the launch.
task_ref launch(const plan& nodes, const task_ref& before, int device, std::optional<int> priority);

/// For calls that CUDA deems unsafe beside a capture, since they are not seen by it: refuses them
/// to a thread that captures, or while another captures globally, and invalidates these captures
/// (see cudaThreadExchangeStreamCaptureMode).
cudaError_t refuse_unsafe();

/// For calls that wait for all of a device: refuses them while anything is captured there.
cudaError_t refuse_while_captured(int device);

/// Whether something can be enqueued in or captured from a stream: it exists and its capture, if
/// any, is in order.
cudaError_t usable(cudaStream_t s);

/// As `usable`, for launches, which are for the current device only.
cudaError_t usable_for_launch(cudaStream_t s);

/// For calls that wait for an event: refuses and breaks the capture that it was recorded in.
cudaError_t refuse_captured(const CUevent_st& e);

/// Adds a node to the graph that a stream is captured into.
void capture_node(CUstream_st& s, const operation_ref& what);

/// The stream waits, in a capture or joining one, for an event.
cudaError_t capture_wait(CUstream_st& s, const CUevent_st& e);

}  // namespace fake_cuda
