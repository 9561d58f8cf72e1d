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

#include "framework/base/virtual_clock.hpp"
#include "framework/device/device.hpp"
#include "framework/plan/plan.hpp"
#include "framework/run/execute/slot.hpp"
#include "framework/run/execute/stage_runner.hpp"

namespace graphline {

/// Begins a CPU stage in virtual time and returns its duration.
using virtual_cpu_stage = std::function<nanoseconds(bound_stage&, frame_position)>;

/// One launch: arguments that the graph's host nodes read, and results that they store.
struct frame_launch {
  const stage_runner* runner = nullptr;  ///< null in warm-up launches, which skip CPU stages
  const virtual_cpu_stage* in_virtual_time = nullptr;  ///< if set, executes CPU stages
  const virtual_clock* clock = nullptr;                ///< set in virtual time

  frame_position frame;
  std::atomic<bool>* abandoned = nullptr;  ///< shared by all slots; if true, CPU stages do nothing
  std::size_t failed_stage = 0;            ///< the stage that threw `problem`
  std::exception_ptr problem = {};         ///< thrown by a CPU stage
};

/// All stages of a frame as one graph. Device stages are on their planned streams, and CPU stages
/// are host nodes on separate streams. These streams fork from the launch stream and join it.
///
/// Because all frames are launched on one stream, a graph begins when the previous graph has ended.
/// Several frames in flight let the host launch the next graph before that.
class frame_graph {
 public:
  /// @pre The slot's stages are bound. All arguments outlive this object.
  frame_graph(device& d, const plan& p, slot& s,
              const std::vector<std::unique_ptr<stream>>& streams, stream& origin);

  /// Enqueues the frame's operations in a capture, with the stamps that `method` needs.
  void enqueue(timing_method method);

  /// Enqueues them outside a capture: all rows of each stage, without stamps.
  void enqueue_eagerly();

  /// Instantiates the executable for a method if it does not exist. `event` stamps stage
  /// boundaries, `layers` also part boundaries, and `none` nothing.
  void instrument(timing_method method);

  /// Adopts an executable captured elsewhere.
  void keep(timing_method method, std::unique_ptr<graph_exec> made) {
    executable(method) = std::move(made);
  }

  /// Launches the executable for a method, then records `complete`.
  void launch(timing_method method);

  const event& complete() const noexcept { return *complete_; }
  frame_launch& current() noexcept { return current_; }

 private:
  void fork_and_join(const std::function<void(bound_stage&)>& enqueue_stage);
  void enqueue(bound_stage& stage, timing_method method);
  static void enqueue_switch(bound_stage& stage);
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
