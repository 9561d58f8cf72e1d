#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "framework/device/device.hpp"
#include "framework/stage/stage.hpp"

namespace graphline::test {

/// Makes a device stage for each bucket, the last of which is the capacity, with shared constants
/// and bound to the same memory. Runs each number of rows in the smallest bucket that holds them,
/// with the bytes of all further rows, outputs and scratch memory set to 0xff: NaN, 255 and -1.
/// Expects the first rows of a stage that is made for the capacity alone, within `limit` of their
/// greatest element, and no change behind the bucket's rows.
/// @return the bytes of device memory that each bucket's constants add
std::vector<std::size_t> expect_first_rows(const std::shared_ptr<device>& on,
                                           const stage_kind& kind, const std::string& yaml,
                                           const std::vector<tensor_type>& inputs,
                                           const std::vector<std::int64_t>& buckets, double limit);

}  // namespace graphline::test
