#include "framework/device/builtin/builtin_devices.hpp"

#include "framework/device/host/host_device.hpp"
#ifdef GRAPHLINE_CUDA
#include "framework/device/cuda/cuda_device.hpp"
#endif

namespace graphline {

const device_list& builtin_devices() {
  static const device_list devices({
#ifdef GRAPHLINE_CUDA
      cuda_backend(),
#endif
      host_backend(),
  });
  return devices;
}

}  // namespace graphline
