#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/tensor_type.hpp"

namespace graphline::nn {

/// A safetensors file, opened for reading: eight bytes with the length of a JSON header, the
/// header, then the tensors' bytes without gaps (format of huggingface/safetensors). The header is
/// checked whole when the file is opened; the data of a tensor is read when it is asked for.
class safetensors_file {
 public:
  /// What the header says of a tensor.
  struct entry {
    std::string element;  ///< as in the file: "F32", "BF16", ...
    graphline::shape shape;
    std::uint64_t begin = 0;  ///< offsets of its bytes, from the end of the header
    std::uint64_t end = 0;
  };

  /// Reads the header and nothing behind it. Throws `input_error` naming the file, and the tensor
  /// where there is one, for a file that cannot be read, is of another format, is truncated, or
  /// whose header is not exact: unknown types, or sizes that do not follow from shape and type.
  explicit safetensors_file(std::string path);

  const std::string& path() const noexcept { return path_; }
  const std::map<std::string, entry, std::less<>>& entries() const noexcept { return entries_; }

  /// What `read_float32` would say of a tensor without reading it; empty where all is well with it.
  std::string why_not_float32(std::string_view name, const shape& expected) const;

  /// The tensor's elements as float32; F16, BF16 and F64 are converted. Throws `input_error` when
  /// there is none of that name, its shape is another one, it holds no floating-point numbers or
  /// cannot be read.
  std::vector<float> read_float32(std::string_view name, const shape& expected);

 private:
  [[noreturn]] void fail(const std::string& message) const;
  void read_header(std::uint64_t size);

  std::string path_;
  std::ifstream file_;
  std::uint64_t data_start_ = 0;
  std::map<std::string, entry, std::less<>> entries_;
};

}  // namespace graphline::nn
