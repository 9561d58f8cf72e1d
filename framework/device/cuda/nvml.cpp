#include "framework/device/cuda/nvml.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace graphline {
namespace {

// Values of nvmlClockType_t.
constexpr unsigned clock_of_cores = 1;
constexpr unsigned clock_of_memory = 2;

/// Bits of nvmlClocksThrottleReasons, without those for idleness and application clocks.
constexpr std::pair<unsigned long long, const char*> reasons_for_clocks[] = {
    {0x04, "the power limit"},          {0x08, "the hardware (power or temperature)"},
    {0x10, "another GPU of its group"}, {0x20, "temperature"},
    {0x40, "temperature (hardware)"},   {0x80, "the power supply"}};

std::string switched(unsigned now) {
  return now != 0 ? "on" : "off";
}

/// Returns the functions of `library`. Functions that the driver lacks are null.
nvml_functions functions_of(void* library) {
  nvml_functions found;
  const auto bind = [&](auto& function, const char* name) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
  };
  bind(found.init, "nvmlInit_v2");
  bind(found.device_by_bus, "nvmlDeviceGetHandleByPciBusId_v2");
  bind(found.clock, "nvmlDeviceGetClockInfo");
  bind(found.slowed_by, "nvmlDeviceGetCurrentClocksThrottleReasons");
  bind(found.power_limit, "nvmlDeviceGetEnforcedPowerLimit");
  bind(found.ecc, "nvmlDeviceGetEccMode");
  bind(found.mig, "nvmlDeviceGetMigMode");
  bind(found.driver_version, "nvmlSystemGetDriverVersion");
  bind(found.processes, "nvmlDeviceGetComputeRunningProcesses_v3");
  return found;
}

/// Returns the functions of the loaded library; all are null if there is none.
const nvml_functions& loaded() {
  static const nvml_functions functions = [] {
    void* const library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    return library == nullptr ? nvml_functions() : functions_of(library);
  }();
  return functions;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> nvml_device::details() const {
  std::vector<std::pair<std::string, std::string>> known;
  std::array<char, 96> driver{};
  if (with_.driver_version != nullptr &&
      with_.driver_version(driver.data(), static_cast<unsigned>(driver.size() - 1)) == 0) {
    known.emplace_back("driver", driver.data());
  }
  unsigned value = 0;
  unsigned later = 0;
  if (with_.power_limit != nullptr && with_.power_limit(device_, &value) == 0) {
    known.emplace_back("power limit", fmt::format("{} W", value / 1000));
  }
  if (with_.ecc != nullptr && with_.ecc(device_, &value, &later) == 0) {
    known.emplace_back("ECC", switched(value));
  }
  if (with_.mig != nullptr && with_.mig(device_, &value, &later) == 0) {
    known.emplace_back("MIG", switched(value));
  }
  return known;
}

device_state nvml_device::state(unsigned own_process) const noexcept {
  device_state state;
  unsigned value = 0;
  if (with_.clock != nullptr) {
    if (with_.clock(device_, clock_of_cores, &value) == 0) state.clock = value;
    if (with_.clock(device_, clock_of_memory, &value) == 0) state.memory_clock = value;
  }
  unsigned long long reasons = 0;
  if (with_.slowed_by != nullptr && with_.slowed_by(device_, &reasons) == 0) {
    for (const auto& [bit, name] : reasons_for_clocks) {
      if ((reasons & bit) != 0) state.slowed_by.emplace_back(name);
    }
  }
  std::array<nvml_functions::process, 64> list{};
  auto count = static_cast<unsigned>(list.size());
  if (with_.processes != nullptr && with_.processes(device_, &count, list.data()) == 0) {
    const auto end = list.begin() + std::min<std::ptrdiff_t>(count, list.size());
    const auto own = std::count_if(list.begin(), end, [&](const nvml_functions::process& process) {
      return process.id == own_process;
    });
    if (own > 0) state.other_processes = static_cast<int>(end - list.begin() - own);
  }
  return state;
}

std::optional<nvml_device> find_nvml_device(const nvml_functions& functions,
                                            const std::string& pci_bus_id) {
  nvml_functions::handle device = nullptr;
  if (functions.init == nullptr || functions.device_by_bus == nullptr) return std::nullopt;
  if (functions.init() != 0) return std::nullopt;
  if (functions.device_by_bus(pci_bus_id.c_str(), &device) != 0) return std::nullopt;
  return nvml_device(functions, device);
}

std::optional<nvml_device> find_nvml_device(const std::string& pci_bus_id) {
  return find_nvml_device(loaded(), pci_bus_id);
}

}  // namespace graphline
