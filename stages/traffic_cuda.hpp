#pragma once

#include <memory>

#include "framework/stage/stage.hpp"

namespace graphline {

/// The `traffic` stage on a `cuda` device: a copy or a fill by the runtime, or a sum by a kernel.
std::unique_ptr<device_stage> make_traffic_cuda(device& d, const stage_config& config);

}  // namespace graphline
