#include "framework/device/host/host_device.hpp"
#include "framework/device/host/host_machine.hpp"

namespace graphline {
namespace {

std::vector<device_properties> list_host(std::string& /*reason*/) {
  return {host_properties(default_compute_threads())};  // there is always a CPU
}

std::unique_ptr<device> open_host(int /*index*/, const device_request& request) {
  return open_host_device(request.host_threads == 0 ? default_compute_threads()
                                                    : request.host_threads);
}

}  // namespace

backend host_backend() {
  return {"host", &list_host, &open_host};
}

}  // namespace graphline
