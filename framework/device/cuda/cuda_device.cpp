#include "framework/device/cuda/cuda_device.hpp"

#include <cuda_profiler_api.h>
#include <fmt/format.h>
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <atomic>

#include "framework/base/units.hpp"
#include "framework/device/cuda/cuda_calls.hpp"
#include "framework/device/cuda/cuda_engine.hpp"
#include "framework/device/cuda/cuda_graph.hpp"
#include "framework/device/cuda/cuda_stream.hpp"
#include "framework/device/cuda/nvml.hpp"
#include "framework/device/cuda/switch_kernel.hpp"

namespace graphline {
namespace {

/// Returns the PCI bus ID as nvidia-smi shows it: "00000000:3B:00.0".
std::string bus_id_of(const cudaDeviceProp& given) {
  return fmt::format("{:08X}:{:02X}:{:02X}.0", given.pciDomainID, given.pciBusID,
                     given.pciDeviceID);
}

/// Returns what CUDA reports for a device without creating a context. Throws `cuda_error`.
device_properties cuda_properties(int index) {
  const std::string subject = fmt::format("device cuda:{}", index);
  cudaDeviceProp given{};
  check_cuda(cudaGetDeviceProperties(&given, index), "cudaGetDeviceProperties", subject);
  int driver = 0;
  int runtime = 0;
  check_cuda(cudaDriverGetVersion(&driver), "cudaDriverGetVersion", subject);
  check_cuda(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion", subject);
  // Since CUDA 13, cudaDeviceProp contains no clock rates.
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    check_cuda(cudaDeviceGetAttribute(&value, which, index), "cudaDeviceGetAttribute", subject);
    return value;
  };
  const int core_clock = attribute(cudaDevAttrClockRate);
  const int memory_clock = attribute(cudaDevAttrMemoryClockRate);
  const int memory_bus = attribute(cudaDevAttrGlobalMemoryBusWidth);

  device_properties result;
  result.backend = "cuda";
  // Measured clocks: 345 MHz idle, 1980 MHz busy. The time to reach the busy clock is unknown.
  result.warm_up = 300'000'000;
  result.name = given.name;
  result.memory_bytes = given.totalGlobalMem;
  // A query of the number would create a context. GPUs have six priorities or none.
  result.priority_levels = given.streamPrioritiesSupported != 0 ? 3 : 1;
  result.selects = driver >= 12'080;  // switch nodes, and their conditions' default values
  result.details = {
      {"compute capability", fmt::format("{}.{}", given.major, given.minor)},
      {"multiprocessors", std::to_string(given.multiProcessorCount)},
      {"core clock, at most", fmt::format("{} MHz", core_clock / 1000)},
      {"memory clock, at most", fmt::format("{} MHz", memory_clock / 1000)},
      {"memory bus", fmt::format("{} bit", memory_bus)},
      {"L2 cache", format_bytes(static_cast<std::uint64_t>(given.l2CacheSize))},
      {"CUDA of the driver", cuda_version_text(driver)},
      {"CUDA runtime", cuda_version_text(runtime)},
  };
  if (const auto managed = find_nvml_device(bus_id_of(given))) {
    for (auto& detail : managed->details()) result.details.push_back(std::move(detail));
  }
  return result;
}

/// Returns the device in NVML; empty if unknown.
std::optional<nvml_device> nvml_device_of(int index) {
  cudaDeviceProp given{};
  check_cuda(cudaGetDeviceProperties(&given, index), "cudaGetDeviceProperties",
             fmt::format("device cuda:{}", index));
  return find_nvml_device(bus_id_of(given));
}

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
    if (!properties_.selects) return;
    engine_.check(load_set_condition(), "cudaFuncGetAttributes", {"device", engine_.name});
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
                                        capture.take_stamps(), capture.take_switches());
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
    engine_.check_peers();
  }

  void exchange_with(device& peer) override {
    if (typeid(peer) != typeid(cuda_device)) device::exchange_with(peer);
    engine_.connect(static_cast<cuda_device&>(peer).engine_);
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

  bool shows_ranges() const noexcept override { return true; }
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

/// Explains why cudaGetDeviceCount failed and how to remedy it.
std::string describe_absence(cudaError_t status) {
  int driver = 0;
  int runtime = 0;
  const bool knows_driver = cudaDriverGetVersion(&driver) == cudaSuccess;
  static_cast<void>(cudaRuntimeGetVersion(&runtime));
  if (status == cudaErrorInsufficientDriver) {
    if (!knows_driver || driver == 0) {
      return "no NVIDIA driver is installed; this program needs one for CUDA " +
             cuda_version_text(runtime) + " or newer";
    }
    return fmt::format(
        "the NVIDIA driver is too old: it is for CUDA {}, and this program needs one for CUDA {} "
        "or newer",
        cuda_version_text(driver), cuda_version_text(runtime));
  }
  if (status == cudaErrorNoDevice) {
    return "the NVIDIA driver finds no GPU (CUDA_VISIBLE_DEVICES hides those it does not name)";
  }
  return fmt::format("cudaGetDeviceCount failed: {} ({}), {}", cudaGetErrorName(status),
                     static_cast<int>(status), cudaGetErrorString(status));
}

std::vector<device_properties> list_cuda(std::string& reason) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    static_cast<void>(cudaGetLastError());  // clears it, so that a later call does not report it
    reason = describe_absence(status);
    return {};
  }
  std::vector<device_properties> found;
  for (int i = 0; i < count; ++i) found.push_back(cuda_properties(i));
  return found;
}

std::unique_ptr<device> open_cuda(int index, const device_request& /*request*/) {
  return open_cuda_device(index);
}

}  // namespace

std::unique_ptr<device> open_cuda_device(int index) {
  return std::make_unique<cuda_device>(index);
}

int use_cuda_device(device& d) {
  if (typeid(d) != typeid(cuda_device)) {
    throw run_error(
        fmt::format("'{}' is not a cuda device and cannot run CUDA code", d.properties().backend));
  }
  return static_cast<cuda_device&>(d).use();
}

backend cuda_backend() {
  return {"cuda", &list_cuda, &open_cuda, &why_no_peer_access};
}

std::string cuda_version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace graphline
