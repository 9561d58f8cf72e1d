#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "framework/device/device.hpp"
#include "framework/plan/plan.hpp"
#include "framework/run/execute/slot.hpp"
#include "framework/run/execute/stage_runner.hpp"

namespace graphline {

/// Begins a CPU stage in virtual time and returns its duration.
using virtual_cpu_stage = std::function<nanoseconds(const bound_stage&, frame_position)>;

/// Arguments and results of one launch of a frame graph. The arguments are written before the
/// launch and read by the graph's host nodes, which store the results.
struct frame_launch {
  // Executes CPU stages. If both are null (in the warm-up launch), CPU stages do nothing.
  const stage_runner* runner = nullptr;
  const virtual_cpu_stage* in_virtual_time = nullptr;

  frame_position frame;
  std::atomic<bool>* abandoned = nullptr;  ///< shared by all slots; when set, CPU stages do nothing
  std::size_t failed_stage = 0;            ///< the stage that threw `problem`
  std::exception_ptr problem = {};         ///< thrown by a CPU stage
};

/// A frame of a slot as one graph. Device stages are on their planned streams and CPU stages are
/// host nodes on separate streams; all are forked from the launch stream and joined to it.
///
/// All frames are launched on one stream, so a graph begins when the previous graph has ended. No
/// stage overlaps itself, and CPU stages see frames in order. Several frames in flight let the host
/// launch the next frame before the device has finished the previous one.
class frame_graph {
 public:
  /// @param streams The plan's streams.
  /// @pre The slot's stages are bound. All arguments outlive this object.
  frame_graph(device& d, const plan& p, slot& s,
              const std::vector<std::unique_ptr<stream>>& streams, stream& origin);

  /// Enqueues the frame's operations, captured or not, with the stamps that `method` needs.
  void enqueue(timing_method method);

  /// Instantiates the executable for a method if it does not exist: without stamps for `none`, with
  /// stamps at stage boundaries for `event`, and also at part boundaries for `layers`.
  void instrument(timing_method method);

  /// Adopts an executable captured elsewhere.
  void keep(timing_method method, std::unique_ptr<graph_exec> made) {
    executable(method) = std::move(made);
  }

  /// Launches the executable for a method and records `complete` after it.
  void launch(timing_method method);

  const event& complete() const noexcept { return *complete_; }
  frame_launch& current() noexcept { return current_; }

 private:
  void enqueue(bound_stage& stage, timing_method method);
  std::unique_ptr<graph_exec>& executable(timing_method method) noexcept {
    return executables_[static_cast<std::size_t>(method)];
  }

  device& device_;
  const plan& plan_;
  slot& slot_;
  const std::vector<std::unique_ptr<stream>>& streams_;
  stream& origin_;
  std::unique_ptr<event> fork_;
  std::unique_ptr<event> complete_;
  frame_launch current_;
  std::array<std::unique_ptr<graph_exec>, std::size(timing_method_words)> executables_;
};

}  // namespace graphline
