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

/// Begins a CPU stage in virtual time and returns how long it takes.
using virtual_cpu_stage = std::function<nanoseconds(const bound_stage&, frame_position)>;

/// What a slot's frame graph is launched for. Written before the launch, read by the graph's host
/// nodes, and holding what they leave once the launch is complete.
struct frame_launch {
  // What CPU stages call. Both null: a rehearsal, in which they do nothing.
  const stage_runner* runner = nullptr;
  const virtual_cpu_stage* in_virtual_time = nullptr;

  frame_position frame;
  std::atomic<bool>* abandoned = nullptr;  ///< common to all slots: no CPU stage runs any more
  std::size_t failed_stage = 0;            ///< of `problem`
  std::exception_ptr problem = {};         ///< what a CPU stage threw
};

/// The whole frame of a slot as one graph: device stages on their planned streams, CPU stages as
/// host nodes on streams of theirs, forked from the stream it is launched on and joined to it.
///
/// All frames are launched on one stream, so that a frame's graph begins when the one before has
/// ended: no stage ever overlaps itself, and frames reach CPU stages in order. What several frames
/// in flight gain is that the next is handed over before the device is done with the one before.
class frame_graph {
 public:
  /// `streams` are the plan's; the slot's stages are bound. All arguments outlive this.
  frame_graph(device& d, const plan& p, slot& s,
              const std::vector<std::unique_ptr<stream>>& streams, stream& origin);

  /// Enqueues the frame operation by operation, in a capture or not, with what `method` stamps.
  void enqueue(timing_method method);

  /// Makes the executable for a method, where there is none yet: clean for `none`, with stamps at
  /// stage boundaries for `event`, at parts' too for `layers`.
  void instrument(timing_method method);

  /// For what was captured and measured elsewhere.
  void keep(timing_method method, std::unique_ptr<graph_exec> made) {
    executable(method) = std::move(made);
  }

  /// Launches the executable for a method and marks its end by `complete`.
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
