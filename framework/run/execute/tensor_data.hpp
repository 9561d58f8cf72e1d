#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "framework/base/file/npy_file.hpp"
#include "framework/base/tensor_type.hpp"
#include "framework/base/words.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Fills a tensor in host memory with standard normal values, uniform values in [0, 1), zeros or
/// ones. Random integers are floor(128 + 32 x normal) or floor(256 x uniform), clamped to [0, 255].
/// The same seed gives the same values on every machine.
void fill_input(const tensor_view& tensor, fill how, std::uint64_t seed);

/// Fills a tensor in host memory from a NumPy file.
/// @throws input_error naming the file if it cannot be read or contains another type
void read_input(const tensor_view& tensor, const std::string& path);

/// Fills the `guard_bytes` before and after each output of a CPU stage with a pattern.
void fill_guards(std::span<const tensor_view> outputs) noexcept;

/// Checks that the guards are unchanged.
/// @throws run_error naming the output whose guard was overwritten
void check_guards(std::span<const tensor_view> outputs, const std::vector<std::string>& names);

/// Summarizes an output: checksum, whether all elements are finite, and some elements.
output_record describe_output(const std::string& tensor, const tensor_type& type,
                              std::span<const std::byte> bytes);

/// Returns the file of an output in a folder of reference tensors: output.NAME.npy, as
/// `session::save_tensors` names it, or else NAME.npy.
/// @throws input_error naming the files if there is none
std::string reference_file(const std::string& folder, const std::string& tensor);

/// @throws input_error naming the file if it cannot be read or has another shape
void require_shape(const npy_file& file, const std::string& tensor, const shape& extents);

/// Sets the error of an output compared with a reference tensor of the same shape, of any type.
/// @throws input_error naming the file if it cannot be read or has another shape
void compare_with_reference(output_record& of, const tensor_type& type,
                            std::span<const std::byte> bytes, const std::string& path);

/// Generates unique file names for tensors in a folder.
class tensor_file_names {
 public:
  /// Returns "weight.net.0.bias.npy" for {weight, net, 0.bias}. Changes a name that is too long,
  /// invalid or taken, and appends a hash of the parts.
  std::string next(const std::vector<std::string>& parts);

 private:
  std::set<std::string> taken_;
};

}  // namespace graphline
