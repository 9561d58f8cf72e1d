#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "framework/base/tensor_type.hpp"
#include "framework/base/words.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Fills a tensor in host memory: standard normal, uniform in [0, 1), zeros or ones. Whole-number
/// types take the rounded-down value of 128 + 32 x (normal) or 256 x (uniform), kept within 0 to
/// 255. The same seed gives the same values on every machine.
void fill_input(const tensor_view& tensor, fill how, std::uint64_t seed);

/// What is kept of an output: a checksum of its bytes, whether all of it is finite, and some of its
/// elements.
output_record describe_output(const std::string& tensor, const tensor_type& type,
                              std::span<const std::byte> bytes);

/// Writes a tensor as a NumPy file, format version 1.0 (numpy.lib.format), C order, little endian.
/// bfloat16, which NumPy lacks, is written as uint16. The file is there whole or as it was before.
/// Throws `run_error` naming the path.
void write_npy(const std::filesystem::path& path, const tensor_type& type,
               std::span<const std::byte> data);

}  // namespace graphline
