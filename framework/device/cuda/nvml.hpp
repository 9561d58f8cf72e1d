#pragma once

// NVIDIA's management library (NVML). It comes with the driver, so it is loaded at run time and
// used without its header.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/device/device.hpp"

namespace graphline {

/// Functions of libnvidia-ml.so.1, with the types in its header for driver 450. Each returns 0 on
/// success. Any may be null.
struct nvml_functions {
  using handle = void*;
  int (*init)() = nullptr;
  int (*device_by_bus)(const char* pci_bus_id, handle* device) = nullptr;
  int (*clock)(handle device, unsigned type, unsigned* mhz) = nullptr;
  int (*slowed_by)(handle device, unsigned long long* reasons) = nullptr;
  int (*power_limit)(handle device, unsigned* milliwatts) = nullptr;
  int (*ecc)(handle device, unsigned* now, unsigned* after_restart) = nullptr;
  int (*mig)(handle device, unsigned* now, unsigned* after_restart) = nullptr;
  int (*driver_version)(char* text, unsigned room) = nullptr;

  /// nvmlProcessInfo_t of nvmlDeviceGetComputeRunningProcesses_v3.
  struct process {
    unsigned id;
    unsigned long long memory;
    unsigned gpu_instance;
    unsigned compute_instance;
  };
  /// `count`: capacity of `list` on entry; on return the number of processes, possibly larger.
  int (*processes)(handle device, unsigned* count, process* list) = nullptr;
};

/// A GPU that NVML knows.
class nvml_device {
 public:
  /// `functions` must outlive this object.
  nvml_device(const nvml_functions& functions, nvml_functions::handle device)
      : with_(functions), device_(device) {}

  /// Returns the driver, power limit, ECC and MIG states as names and values. Omits unknown values.
  std::vector<std::pair<std::string, std::string>> details() const;

  /// Returns the state. Counts the processes other than `own_process`. The count is unknown if NVML
  /// does not list `own_process`, as in containers with their own process numbers.
  device_state state(unsigned own_process) const noexcept;

 private:
  const nvml_functions& with_;
  nvml_functions::handle device_;
};

/// Returns the GPU with this PCI bus ID, "0000:3b:00.0"; empty without the library or the GPU.
std::optional<nvml_device> find_nvml_device(const std::string& pci_bus_id);

/// Same as above, but uses the given functions of the library.
std::optional<nvml_device> find_nvml_device(const nvml_functions& functions,
                                            const std::string& pci_bus_id);

}  // namespace graphline
