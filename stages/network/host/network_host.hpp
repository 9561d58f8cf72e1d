#pragma once

#include <memory>

#include "framework/stage/stage.hpp"

namespace graphline {

/// The `network` stage on a `host` device: oneDNN primitives, weights in device memory. Throws
/// `input_error` for a wrong weights file, `run_error` when oneDNN refuses a layer.
std::unique_ptr<device_stage> make_network_host(device& d, const stage_config& config);

}  // namespace graphline
