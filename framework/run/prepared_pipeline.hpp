#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "framework/base/stop_request.hpp"
#include "framework/device/device.hpp"
#include "framework/plan/placement.hpp"
#include "framework/plan/plan.hpp"
#include "framework/stage/stage.hpp"

namespace graphline {

/// A stage bound to the memory, events and graph of one slot: all that carrying it out once needs.
struct bound_stage {
  std::size_t index = 0;  ///< of the stage in the plan
  std::vector<tensor_view> inputs;
  std::vector<tensor_view> outputs;

  // A CPU stage.
  cpu_stage* cpu = nullptr;               ///< null for a device stage
  std::vector<const event*> completions;  ///< device stages the host must see complete first

  // A device stage.
  stream* on = nullptr;
  std::unique_ptr<device_work> work;
  std::unique_ptr<graph_exec> executable;  ///< null with `graphs: off`
  std::vector<const event*> stream_waits;  ///< ends of stages on other streams
  std::unique_ptr<timed_event> begin;      ///< both for the `event` method
  std::unique_ptr<timed_event> end;
  std::unique_ptr<event> complete;  ///< null when nobody waits for this stage by event

  void launch() {
    if (executable != nullptr) {
      on->launch(*executable);
    } else {
      work->enqueue(*on);
    }
  }
};

/// The buffers, graph executables and events of one frame in flight.
struct slot {
  memory device_block;
  memory pinned_block;
  std::vector<bound_stage> stages;  ///< as in the plan

  slot() = default;
  slot(slot&&) = default;
};

/// A plan made ready on a device: weights loaded, memory placed, every slot bound and captured.
/// What the executors run.
class prepared_pipeline {
 public:
  /// Throws `run_error` naming the stage that could not be prepared, `interrupted_error` when
  /// `stop` is raised meanwhile.
  prepared_pipeline(plan p, device& d, const stop_request* stop);
  ~prepared_pipeline();
  prepared_pipeline(const prepared_pipeline&) = delete;
  prepared_pipeline& operator=(const prepared_pipeline&) = delete;

  const plan& planned() const noexcept { return plan_; }
  graphline::device& device() const noexcept { return device_; }
  std::vector<slot>& slots() noexcept { return slots_; }
  std::size_t stream_count() const noexcept { return streams_.size(); }

  /// A tensor of the plan in a slot; an input is the same in every slot.
  tensor_view tensor(std::size_t index, std::size_t in_slot) const;

  /// A tensor's bytes, brought to the host. The device must be idle.
  std::vector<std::byte> read(const tensor_view& from, side on);

 private:
  void make_inputs();
  void make_stages(const stop_request* stop);
  void make_slot(slot& s, std::size_t index);
  void bind_waits(slot& s);
  void warm_up_and_capture(const stop_request* stop);

  plan plan_;
  graphline::device& device_;
  std::vector<std::unique_ptr<stream>> streams_;
  std::unique_ptr<stream> transfers_;  ///< for inputs and reading back, off the frames' path
  std::vector<memory> inputs_;         ///< per tensor; empty for those that are not inputs
  std::vector<std::unique_ptr<device_stage>> device_stages_;  ///< per stage; null for CPU stages
  std::vector<std::unique_ptr<cpu_stage>> cpu_stages_;        ///< per stage; null for device stages
  placement placement_;
  std::vector<slot> slots_;
};

}  // namespace graphline
