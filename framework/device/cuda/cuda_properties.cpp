#include "framework/device/cuda/cuda_properties.hpp"

#include <fmt/format.h>

#include "framework/base/units.hpp"
#include "framework/device/cuda/cuda_status.hpp"

namespace graphline {
namespace {

/// As nvidia-smi shows it: "00000000:3B:00.0".
std::string bus_id_of(const cudaDeviceProp& given) {
  return fmt::format("{:08X}:{:02X}:{:02X}.0", given.pciDomainID, given.pciBusID,
                     given.pciDeviceID);
}

}  // namespace

std::string cuda_version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

device_properties cuda_properties(int index) {
  const std::string subject = fmt::format("device cuda:{}", index);
  cudaDeviceProp given{};
  check_cuda(cudaGetDeviceProperties(&given, index), "cudaGetDeviceProperties", subject);
  int driver = 0;
  int runtime = 0;
  check_cuda(cudaDriverGetVersion(&driver), "cudaDriverGetVersion", subject);
  check_cuda(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion", subject);
  // cudaDeviceProp has no clocks since CUDA 13.
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
  // Idle GPUs were seen at 345 MHz that work at 1980; how soon they get there is not known yet.
  result.warm_up = 300'000'000;
  result.name = given.name;
  result.memory_bytes = given.totalGlobalMem;
  // CUDA tells their number to a context only, and a list makes none. GPUs that have them have six.
  result.priority_levels = given.streamPrioritiesSupported != 0 ? 3 : 1;
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

std::optional<nvml_device> nvml_device_of(int index) {
  cudaDeviceProp given{};
  check_cuda(cudaGetDeviceProperties(&given, index), "cudaGetDeviceProperties",
             fmt::format("device cuda:{}", index));
  return find_nvml_device(bus_id_of(given));
}

}  // namespace graphline
