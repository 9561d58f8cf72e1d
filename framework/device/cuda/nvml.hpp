#pragma once

// What NVIDIA's management library tells of a GPU. It comes with the driver, not with the toolkit,
// so that it is opened when it is first needed and does without its header.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/device/device.hpp"

namespace graphline {

/// The functions of libnvidia-ml.so.1 that are called, with the types of its header as of driver
/// 450. Each returns 0 when it could tell; any may be null.
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
  /// `count`: room in `list`, then how many there are, which may be more.
  int (*processes)(handle device, unsigned* count, process* list) = nullptr;
};

/// One GPU as the library sees it.
class nvml_device {
 public:
  /// `functions` must outlive it.
  nvml_device(const nvml_functions& functions, nvml_functions::handle device)
      : with_(functions), device_(device) {}

  /// Driver, power limit, ECC and MIG, as name and value; what the library does not tell is left
  /// out.
  std::vector<std::pair<std::string, std::string>> details() const;

  /// `own_process`: whose work on the GPU is no other's. Where the library does not list it, as in
  /// containers that number processes by themselves, the others are not known.
  device_state state(unsigned own_process) const noexcept;

 private:
  const nvml_functions& with_;
  nvml_functions::handle device_;
};

/// The GPU at a place of the PCI bus, "0000:3b:00.0"; nothing where there is no such library or it
/// does not know the GPU.
std::optional<nvml_device> find_nvml_device(const std::string& pci_bus_id);

/// The same by functions that are there already.
std::optional<nvml_device> find_nvml_device(const nvml_functions& functions,
                                            const std::string& pci_bus_id);

}  // namespace graphline
