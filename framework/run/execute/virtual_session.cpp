#include "framework/run/execute/virtual_session.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/virtual_clock.hpp"
#include "framework/device/model/model_device.hpp"
#include "framework/run/execute/environment.hpp"
#include "framework/run/execute/executors.hpp"
#include "framework/run/execute/frame_schedule.hpp"
#include "framework/run/execute/prepared_pipeline.hpp"
#include "framework/run/execute/recording.hpp"
#include "framework/run/execute/virtual_host.hpp"

namespace graphline {
namespace {

struct unused_cpu_stage final : cpu_stage {
  void run(const cpu_call&) override {
    throw std::logic_error("a stage must not compute in virtual time");
  }
};

/// Stages that decide by a tensor.
struct deciding_tensor {
  std::vector<std::size_t> rows_of;
  std::vector<std::size_t> when_of;

  bool decides() const noexcept { return !rows_of.empty() || !when_of.empty(); }
};

std::vector<deciding_tensor> deciding_tensors(const plan& p) {
  std::vector<deciding_tensor> all(p.tensors.size());
  for (std::size_t s = 0; s < p.stages.size(); ++s) {
    if (p.stages[s].rows) all[*p.stages[s].rows].rows_of.push_back(s);
    if (p.stages[s].when) all[*p.stages[s].when].when_of.push_back(s);
  }
  return all;
}

}  // namespace

class virtual_session::world {
 public:
  world(const plan& p, const virtual_machine& machine)
      : planned_(p),
        machine_(machine),
        deciding_(deciding_tensors(p)),
        devices_(open_devices()),
        pipeline_(timed(), group(), nullptr),
        in_slot_(pipeline_.slots().size()),
        executor_(make_executor_on<virtual_host>(pipeline_, host())) {}

  run_record run(const virtual_times& times, const virtual_run_options& options) {
    times_ = &times;
    run_record record = begin_record(planned_, machine_.devices);
    record.environment.clear();  // that of this process
    record.run.frames = frames_that_arrive(planned_, options.frames.value_or(record.run.frames));
    if (options.rate) record.run.rate = options.rate;
    record.cpu_cores = machine_.cores;
    const nanoseconds epoch = clock_.now();
    recording kept(pipeline_.planned(), pipeline_.parts(), group(), record.run.timing,
                   record.run.frames, epoch);
    const auto schedule =
        make_frame_schedule(planned_, record.run, options.arrival_seed.value_or(record.run.seed));
    phase measured;
    measured.frames = record.run.frames;
    measured.into = &kept;
    measured.schedule = schedule.get();
    measured.together = record.run.batch_frames;
    std::optional<run_policy> scheduled;
    if (planned_.policy.kind != nullptr) {
      scheduled.emplace(planned_.policy, record.run.seed,
                        std::vector{scheduled_pipeline{&planned_, times.expected}});
      measured.policy = &scheduled->of(0);
    }
    const phase_result result = executor_->run(measured);
    if (schedule) record.load = schedule->end(epoch, clock_.now(), result.completed);
    std::move(kept).move_into(record, result.completed);
    record.failure = result.failure;
    times_ = nullptr;
    return record;
  }

 private:
  /// Work of a device stage or copy, bound to a slot.
  struct timed_work final : device_work {
    timed_work(world& all, std::size_t index, std::size_t in_slot, std::vector<tensor_view> out)
        : of(all), stage(index), slot(in_slot), outputs(std::move(out)) {}

    void enqueue(stream& s) override {
      model_operate(s, of.planned_.stages[stage].name, [this]() -> nanoseconds {
        if (of.times_ == nullptr) return 0;  // preparation
        const frame_position& frame = of.in_slot_[slot];
        of.write_decisions(stage, frame, outputs);
        return of.times_->work(stage, frame);
      });
    }

    world& of;
    std::size_t stage;
    std::size_t slot;
    std::vector<tensor_view> outputs;
  };

  struct timed_stage final : device_stage {
    timed_stage(world& all, std::size_t index) : of(all), stage(index) {}

    /// Called for one slot after another; twice for each slot if the stage has an alternative.
    std::unique_ptr<device_work> bind(const stage_tensors& tensors) override {
      const std::size_t times = of.planned_.stages[stage].otherwise.empty() ? 1 : 2;
      const auto& out = tensors.outputs;
      return std::make_unique<timed_work>(of, stage, bound++ / times,
                                          std::vector<tensor_view>(out.begin(), out.end()));
    }

    world& of;
    std::size_t stage;
    std::size_t bound = 0;
  };

  std::vector<std::unique_ptr<device>> open_devices() {
    std::vector<std::unique_ptr<device>> made;
    while (made.size() < machine_.devices.size()) {
      made.push_back(open_model_device(clock_, {.idle_start = machine_.device_start,
                                                .short_idle_start = machine_.device_restart,
                                                .long_idle = machine_.long_idle}));
    }
    return made;
  }

  device_group group() const {
    std::vector<device*> all;
    for (const auto& each : devices_) all.push_back(each.get());
    return device_group(std::move(all));
  }

  /// Returns the plan with stages that take given times and, except for tensors that decide,
  /// tensors of one byte.
  plan timed() {
    plan p = planned_;
    for (std::size_t t = 0; t < p.tensors.size(); ++t) {
      if (deciding_[t].decides()) continue;
      p.tensors[t].type = {{1}, dtype::uint8};
      p.tensors[t].layout = tensor_layout::row_major;
      p.tensors[t].fill = fill::zeros;
      p.tensors[t].file.clear();
    }
    for (std::size_t s = 0; s < p.stages.size(); ++s) {
      planned_stage& stage = p.stages[s];
      const auto as_timed = [&](const prepared_stage& real) {
        prepared_stage made;
        made.cost = real.cost;
        made.known = real.known;
        made.make_cpu = [](const stage_config&) { return std::make_unique<unused_cpu_stage>(); };
        made.make_device[""] = [this, s](device&, const stage_config&) {
          return std::make_unique<timed_stage>(*this, s);
        };
        return std::make_shared<const prepared_stage>(std::move(made));
      };
      stage.prepared = as_timed(*stage.prepared);
      for (planned_bucket& bucket : stage.buckets) bucket.prepared = as_timed(*bucket.prepared);
    }
    p.run.warmup = 0;
    p.run.guard = false;
    return p;
  }

  virtual_world host() {
    virtual_world made{clock_, machine_.cores, [this](std::size_t stage, const auto& frame) {
                         return times_->work(stage, frame);
                       }};
    made.cpu_result = [this](std::size_t stage, const frame_position& frame,
                             std::span<const tensor_view> outputs) {
      write_decisions(stage, frame, outputs);
    };
    made.issue_time = [this](std::size_t stage, const frame_position& frame) {
      in_slot_[static_cast<std::size_t>(frame.index) % in_slot_.size()] = frame;
      return times_->issue(stage, frame);
    };
    made.wake_up = machine_.wake_up;
    made.completion_delay = machine_.completion_delay;
    made.oversleep = machine_.completion_delay;
    return made;
  }

  /// Writes the numbers by which later stages of a frame decide.
  void write_decisions(std::size_t stage, const frame_position& frame,
                       std::span<const tensor_view> outputs) const {
    const auto& writes = planned_.stages[stage].writes;
    for (std::size_t i = 0; i < writes.size(); ++i) {
      const deciding_tensor& by = deciding_[writes[i]];
      if (!by.decides()) continue;
      std::int64_t value = 0;
      for (const std::size_t s : by.rows_of) {
        value = std::max<std::int64_t>(value, times_->rows(s, frame));
      }
      for (const std::size_t s : by.when_of) {
        if (times_->rows(s, frame) != skipped) value = std::max<std::int64_t>(value, 1);
      }
      *outputs[i].as<std::int64_t>() = value;
    }
  }

  const plan& planned_;
  const virtual_machine& machine_;
  const std::vector<deciding_tensor> deciding_;
  virtual_clock clock_;
  const virtual_times* times_ = nullptr;  ///< of the current run
  std::vector<std::unique_ptr<device>> devices_;
  prepared_pipeline pipeline_;
  std::vector<frame_position> in_slot_;  ///< the pass that each slot issued last
  std::unique_ptr<executor> executor_;
};

virtual_session::virtual_session(plan p, virtual_machine on)
    : planned_(std::move(p)), machine_(std::move(on)) {
  world_ = std::make_unique<world>(planned_, machine_);
}

virtual_session::~virtual_session() = default;

run_record virtual_session::run(const virtual_times& times, const virtual_run_options& options) {
  return world_->run(times, options);
}

}  // namespace graphline
