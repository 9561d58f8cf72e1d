#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/tensor_type.hpp"

namespace graphline::nn {

/// A safetensors file opened for reading (format of huggingface/safetensors): the header's length
/// in eight bytes, a JSON header, then the tensors' bytes without gaps. The constructor checks the
/// whole header; tensor data is read on request.
class safetensors_file {
 public:
  /// A tensor's entry in the header.
  struct entry {
    std::string element;  ///< type in the file: "F32", "BF16", ...
    graphline::shape shape;
    std::uint64_t begin = 0;  ///< byte offsets from the end of the header
    std::uint64_t end = 0;
  };

  /// Reads the header only. @throws input_error naming the file and, if known, the tensor: the file
  /// cannot be read, has another format or is truncated, or the header has unknown types or sizes
  /// that do not match shape and type
  explicit safetensors_file(std::string path);

  const std::string& path() const noexcept { return path_; }
  const std::map<std::string, entry, std::less<>>& entries() const noexcept { return entries_; }

  /// Returns the error that `read_float32` would report for a tensor; empty if none.
  std::string why_not_float32(std::string_view name, const shape& expected) const;

  /// Returns a tensor's elements, converted from F16, BF16 or F64, if needed. @throws input_error
  /// if the tensor is missing, has another shape or type, or cannot be read.
  std::vector<float> read_float32(std::string_view name, const shape& expected) const;

 private:
  [[noreturn]] void fail(const std::string& message) const;

  std::string path_;
  mutable std::mutex reading_;  ///< guards `file_`
  mutable std::ifstream file_;
  std::uint64_t data_start_ = 0;
  std::map<std::string, entry, std::less<>> entries_;
};

}  // namespace graphline::nn
