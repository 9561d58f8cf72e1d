#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/stop_request.hpp"
#include "framework/base/words.hpp"
#include "framework/device/device.hpp"
#include "framework/device/device_group.hpp"
#include "framework/plan/placement.hpp"
#include "framework/plan/plan.hpp"
#include "framework/record/run_record.hpp"
#include "framework/run/execute/recording.hpp"
#include "framework/run/execute/slot.hpp"
#include "framework/stage/stage.hpp"

namespace graphline {

/// A plan prepared on its devices: weights are loaded, memory is placed, slots are bound and
/// captured.
class prepared_pipeline {
 public:
  /// @param time_launches Also time repeated launches of each graph.
  /// @throws run_error naming the stage that failed
  /// @throws interrupted_error if `stop` is raised meanwhile
  prepared_pipeline(plan p, device_group on, const stop_request* stop, bool time_launches = true);
  ~prepared_pipeline();
  prepared_pipeline(const prepared_pipeline&) = delete;
  prepared_pipeline& operator=(const prepared_pipeline&) = delete;

  const plan& planned() const noexcept { return plan_; }
  const device_group& devices() const noexcept { return devices_; }
  std::vector<slot>& slots() noexcept { return slots_; }
  std::size_t stream_count() const noexcept { return streams_.size(); }

  const stage_parts& parts() const noexcept { return parts_; }

  /// Costs of the graphs: one per device stage and bucket, or one for the frame; empty with
  /// `graphs: off`.
  const std::vector<graph_record>& graphs() const noexcept { return graphs_; }

  /// Instantiates the instrumented executables that a timing method needs, once per method.
  /// @pre The devices are idle.
  /// @throws run_error naming the stage
  void prepare(timing_method method);

  /// Returns a tensor in a slot. Inputs are the same in all slots.
  tensor_view tensor(std::size_t index, std::size_t in_slot) const;

  /// Returns the rows that the last frame of a slot wrote of a tensor: 0 if it skipped the
  /// producer; empty for a tensor that is whole in every frame, or has been.
  std::optional<std::int64_t> rows_of(std::size_t tensor, std::size_t in_slot) const;

  /// Returns the bytes of a view of a tensor in host memory. If the tensor is on a device,
  /// allocates `staging` and copies the bytes there.
  /// @pre The devices are idle.
  std::span<const std::byte> read(const tensor_view& from, std::size_t tensor, memory& staging);

 private:
  void connect_devices();
  void make_inputs();
  void make_stages(const stop_request* stop);
  void make_slot(slot& s, std::size_t index);
  void bind_waits(slot& s);
  void wait_until_idle() noexcept;
  /// Runs all device work once. With warm-up frames, repeats it for the device's warm-up time.
  void warm_up(const stop_request* stop);
  void capture(const stop_request* stop, bool time_launches);
  void bind_decision(slot& s, std::size_t stage, std::size_t in_slot);
  void bind_variants(slot& s, std::size_t stage, std::size_t in_slot);
  void capture_in_parts(bound_stage& stage, bound_variant& of);

  /// Returns the device of a device stage.
  device& of(std::size_t stage) const { return devices_[plan_.stages[stage].device]; }

  plan plan_;
  device_group devices_;
  std::vector<std::unique_ptr<stream>> streams_;
  /// By device: copies inputs to the device and outputs back.
  std::vector<std::unique_ptr<stream>> transfers_;
  std::vector<memory> inputs_;  ///< by tensor; empty for tensors that are not inputs
  std::vector<std::vector<std::unique_ptr<device_stage>>> device_stages_;  ///< as `parts_`
  std::vector<std::unique_ptr<cpu_stage>> cpu_stages_;  ///< by stage; null for device stages
  stage_parts parts_;
  placement placement_;
  std::unique_ptr<stream> frames_;  ///< launches frame graphs; null without frame graphs
  std::vector<graph_record> graphs_;
  std::vector<slot> slots_;
};

/// Captures the work that `enqueue` enqueues on `origin`, instantiates the graph, launches it once
/// and adds the times to `into`. With `time_launches`, the first call for a record also times up to
/// nine graph launches and nine eager passes, which enqueue the operations one by one.
/// @param eager Enqueues the operations outside a capture; if unset, `enqueue` does.
/// @pre The device is idle, as it is on return.
std::unique_ptr<graph_exec> make_measured_graph(device& d, stream& origin,
                                                const std::function<void()>& enqueue, wait_mode how,
                                                graph_record& into,
                                                const std::function<void()>& eager = {},
                                                bool time_launches = true);

/// Returns the memory that a pipeline took between two readings of a device's usage, and its peak.
/// If an earlier pipeline had a higher peak, this peak is unknown and set to the memory taken.
memory_usage taken_since(const memory_usage& before, const memory_usage& after);

}  // namespace graphline
