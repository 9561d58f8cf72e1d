#include "framework/device/cuda/cuda_device.hpp"

#include <cuda_profiler_api.h>
#include <nvtx3/nvToolsExt.h>

#include <unistd.h>

#include <atomic>

#include "framework/base/units.hpp"
#include "framework/device/cuda/cuda_engine.hpp"
#include "framework/device/cuda/cuda_event.hpp"
#include "framework/device/cuda/cuda_graph.hpp"
#include "framework/device/cuda/cuda_properties.hpp"
#include "framework/device/cuda/cuda_stream.hpp"
#include "framework/device/cuda/cuda_trace.hpp"
#include "framework/device/cuda/nvml.hpp"

namespace graphline {
namespace {

unsigned schedule_flag(wait_mode how) noexcept {
  switch (how) {
    case wait_mode::spin:
      return cudaDeviceScheduleSpin;
    case wait_mode::yield:
      return cudaDeviceScheduleYield;
    case wait_mode::block:
      break;
  }
  return cudaDeviceScheduleBlockingSync;
}

class cuda_device final : public device {
 public:
  explicit cuda_device(int index)
      : engine_(index), properties_(cuda_properties(index)), managed_(nvml_device_of(index)) {
    properties_.priority_levels = engine_.priority_levels();
    properties_.details.emplace_back("event tick",
                                     format_duration(static_cast<double>(engine_.clock.tick())));
  }

  const device_properties& properties() const noexcept override { return properties_; }

  memory allocate(std::size_t bytes) override { return engine_.memory.allocate(bytes); }
  memory allocate_pinned(std::size_t bytes) override {
    return engine_.memory.allocate_pinned(bytes);
  }
  memory_usage usage() const noexcept override { return engine_.memory.usage(); }

  std::unique_ptr<stream> make_stream(std::string name, priority level) override {
    return std::make_unique<cuda_stream>(engine_, std::move(name), level);
  }
  std::unique_ptr<event> make_event(std::string name, wait_mode how) override {
    const unsigned sleeps = how == wait_mode::block ? cudaEventBlockingSync : 0U;
    return std::make_unique<cuda_event>(engine_, std::move(name), cudaEventDisableTiming | sleeps);
  }
  std::unique_ptr<timed_event> make_timed_event(std::string name) override {
    return std::make_unique<cuda_event>(engine_, std::move(name), cudaEventDefault);
  }

  std::unique_ptr<graph> capture(stream& origin, const std::function<void()>& body) override {
    engine_.failed.throw_if_set();
    auto& on = same_engine<cuda_stream>(origin, engine_);
    cuda_capture capture(engine_, on);
    body();
    unique_cuda<cudaGraph_t> captured = capture.finish();
    return std::make_unique<cuda_graph>(engine_, std::move(captured), on.name(),
                                        capture.take_stamps());
  }

  void synchronize(wait_mode how) override {
    engine_.captures.refuse_synchronize();
    engine_.failed.throw_if_set();
    const cuda_subject subject{"device", engine_.name};
    engine_.require_current(subject);
    if (const unsigned flag = schedule_flag(how); schedule_.exchange(flag) != flag) {
      engine_.check(cudaSetDeviceFlags(flag), "cudaSetDeviceFlags", subject);
    }
    engine_.check(cudaDeviceSynchronize(), "cudaDeviceSynchronize", subject);
  }

  clock_check check_clock() override {
    engine_.require_current({"device", engine_.name});
    return engine_.clock.check();
  }

  std::unique_ptr<operation_trace> trace_operations() override {
    return trace_cuda_operations(engine_.index);
  }

  int use() {
    engine_.require_current({"device", engine_.name});
    return engine_.index;
  }

  void begin_range(const char* name) noexcept override { nvtxRangePushA(name); }
  void end_range() noexcept override { nvtxRangePop(); }
  void profile(bool on) noexcept override {
    if (engine_.make_current() != cudaSuccess) return;
    static_cast<void>(on ? cudaProfilerStart() : cudaProfilerStop());
  }
  std::optional<device_state> state() noexcept override {
    if (!managed_) return std::nullopt;
    return managed_->state(static_cast<unsigned>(::getpid()));
  }

 private:
  cuda_engine engine_;
  device_properties properties_;
  std::optional<nvml_device> managed_;
  std::atomic<unsigned> schedule_{cudaDeviceScheduleAuto};
};

}  // namespace

std::unique_ptr<device> open_cuda_device(int index) {
  return std::make_unique<cuda_device>(index);
}

int use_cuda_device(device& d) {
  if (typeid(d) != typeid(cuda_device)) {
    throw run_error(
        fmt::format("'{}' is no cuda device and cannot run CUDA code", d.properties().backend));
  }
  return static_cast<cuda_device&>(d).use();
}

}  // namespace graphline
