#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "framework/base/tensor_type.hpp"

namespace graphline {

// NumPy files (numpy.lib.format). bfloat16, which NumPy lacks, is uint16 there.

/// A NumPy file, opened for reading: format version 1.0, 2.0 or 3.0, C order, little endian. The
/// header is checked whole when the file is opened, the numbers are read when they are asked for.
class npy_file {
 public:
  /// Reads the header and nothing behind it. Throws `input_error` naming the file and, where there
  /// is one, the remedy: it cannot be read, is of another format, holds what no dtype is, in
  /// another order, nothing at all, or not exactly as many bytes as its header says.
  explicit npy_file(std::string path);

  const std::string& path() const noexcept { return path_; }
  const tensor_type& type() const noexcept { return type_; }

  /// Reads all numbers; `to` has as many bytes as the type. Throws `input_error` naming the file.
  void read(std::span<std::byte> to);

 private:
  [[noreturn]] void fail(const std::string& message) const;
  std::string read_header(std::uint64_t size);
  void understand(const std::string& header);

  std::string path_;
  std::ifstream file_;
  std::uint64_t data_start_ = 0;
  tensor_type type_;
};

/// Writes a tensor as a NumPy file of version 1.0. The file is there whole or as it was before.
/// Throws `run_error` naming the path.
void write_npy(const std::filesystem::path& path, const tensor_type& type,
               std::span<const std::byte> data);

}  // namespace graphline
