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
#include "framework/plan/placement.hpp"
#include "framework/plan/plan.hpp"
#include "framework/record/run_record.hpp"
#include "framework/run/execute/slot.hpp"
#include "framework/stage/stage.hpp"

namespace graphline {

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

  /// What each stage's work consists of; empty for CPU stages and for what is one whole.
  const std::vector<std::vector<stage_part>>& parts() const noexcept { return parts_; }

  /// What the graphs cost, one entry per stage or one for the frame; empty with `graphs: off`.
  const std::vector<graph_record>& graphs() const noexcept { return graphs_; }

  /// Makes ready for frames timed by a method: the instrumented executables it takes, once. The
  /// device must be idle. Throws `run_error` naming the stage.
  void prepare(timing_method method);

  /// A tensor of the plan in a slot; an input is the same in every slot.
  tensor_view tensor(std::size_t index, std::size_t in_slot) const;

  /// A tensor's bytes on the host: where they are, or brought into `staging`, which is allocated
  /// then. The device must be idle.
  std::span<const std::byte> read(const tensor_view& from, side on, memory& staging);

 private:
  void make_inputs();
  void make_stages(const stop_request* stop);
  void make_slot(slot& s, std::size_t index);
  void bind_waits(slot& s);
  void wait_until_idle() noexcept;
  /// Runs all device work, once at least, and for as long as the device is to be warmed up unless
  /// no warm-up is wanted.
  void warm_up(const stop_request* stop);
  void capture(const stop_request* stop);
  void capture_in_parts(bound_stage& stage);

  plan plan_;
  graphline::device& device_;
  std::vector<std::unique_ptr<stream>> streams_;
  std::unique_ptr<stream> transfers_;  ///< for inputs and reading back, off the frames' path
  std::vector<memory> inputs_;         ///< per tensor; empty for those that are not inputs
  std::vector<std::unique_ptr<device_stage>> device_stages_;  ///< per stage; null for CPU stages
  std::vector<std::unique_ptr<cpu_stage>> cpu_stages_;        ///< per stage; null for device stages
  std::vector<std::vector<stage_part>> parts_;
  placement placement_;
  std::unique_ptr<stream> frames_;  ///< that frame graphs are launched on; null without them
  std::vector<graph_record> graphs_;
  std::vector<slot> slots_;
};

/// Captures what `enqueue` puts on `origin`, instantiates it and launches it once, all of it timed
/// into `into`. The first time for a record, it also repeats both ways of handing the work over, by
/// launch and operation by operation, three to nine times; only once where that takes a quarter of
/// a second. The device must be idle, and is so again.
std::unique_ptr<graph_exec> make_measured_graph(device& d, stream& origin,
                                                const std::function<void()>& enqueue, wait_mode how,
                                                graph_record& into);

/// What a pipeline prepared between two looks at a device's memory holds of it, and the peak that
/// preparing it reached, where that can be told: other pipelines may hold memory too, and may have
/// reached a higher one before. Then the peak is what it holds.
memory_usage taken_since(const memory_usage& before, const memory_usage& after);

}  // namespace graphline
