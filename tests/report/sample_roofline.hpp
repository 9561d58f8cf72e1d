#pragma once

#include <cstddef>

#include "framework/record/roofline_record.hpp"

namespace graphline::samples {

/// The sample pipeline of `two_models`, run twice, on a device of 12 GB/s and 105 GFLOP/s: of
/// `backbone`, with two parts, the first is near its floor and the second far from it; `head` is
/// bound by memory.
roofline_record two_models_roofline(std::size_t frames);

}  // namespace graphline::samples
