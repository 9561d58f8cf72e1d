#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "framework/record/run_record.hpp"

namespace graphline {

/// What is kept of an output: a checksum of its bytes, whether all of it is finite, and some of its
/// elements.
output_record describe_output(const std::string& tensor, const tensor_type& type,
                              std::span<const std::byte> bytes);

}  // namespace graphline
