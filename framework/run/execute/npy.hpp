#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "framework/base/tensor_type.hpp"

namespace graphline {

/// Writes a tensor as a NumPy file, format version 1.0 (numpy.lib.format), C order, little endian.
/// bfloat16, which NumPy lacks, is written as uint16. The file is there whole or as it was before.
/// Throws `run_error` naming the path.
void write_npy(const std::filesystem::path& path, const tensor_type& type,
               std::span<const std::byte> data);

}  // namespace graphline
