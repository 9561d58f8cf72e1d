#pragma once

#include "framework/device/device.hpp"

namespace graphline {

/// What a pipeline prepared between two looks at a device's memory holds of it, and the peak that
/// preparing it reached, where that can be told: other pipelines may hold memory too, and may have
/// reached a higher one before. Then the peak is what it holds.
memory_usage taken_since(const memory_usage& before, const memory_usage& after);

}  // namespace graphline
