#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "framework/base/tensor_type.hpp"
#include "framework/base/words.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Fills a tensor in host memory: standard normal, uniform in [0, 1), zeros or ones. Whole-number
/// types take the rounded-down value of 128 + 32 x (normal) or 256 x (uniform), kept within 0 to
/// 255. The same seed gives the same values on every machine.
void fill_input(const tensor_view& tensor, fill how, std::uint64_t seed);

/// Reads a tensor in host memory from a NumPy file. Throws `input_error` naming the file, also
/// where it holds another type than the tensor's.
void read_input(const tensor_view& tensor, const std::string& path);

/// Fills the `guard_bytes` before and after each output of a CPU stage with a pattern.
void fill_guards(std::span<const tensor_view> outputs) noexcept;

/// Throws `run_error` where the pattern has changed, naming the output, whose names these are.
void check_guards(std::span<const tensor_view> outputs, const std::vector<std::string>& names);

/// What is kept of an output: a checksum of its bytes, whether all of it is finite, and some of its
/// elements.
output_record describe_output(const std::string& tensor, const tensor_type& type,
                              std::span<const std::byte> bytes);

/// The files of tensors in one folder, each another.
class tensor_file_names {
 public:
  /// "weight.net.0.bias.npy" for weight, net and 0.bias. Where that is longer than a file's name
  /// may be, cannot be one, or is taken, its beginning and a hash of the parts.
  std::string next(const std::vector<std::string>& parts);

 private:
  std::set<std::string> taken_;
};

}  // namespace graphline
