#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>

#include "framework/base/tensor_type.hpp"

namespace graphline {

/// A NumPy file opened for reading: format version 1.0, 2.0 or 3.0, C order, little endian. NumPy
/// has no bfloat16, so bfloat16 is stored as uint16.
class npy_file {
 public:
  /// Reads and checks the header.
  /// @throws input_error with the file and the remedy if the file is unreadable, empty or
  /// truncated, or has an unsupported format, element type or order.
  explicit npy_file(std::string path);

  const std::string& path() const noexcept { return path_; }
  const tensor_type& type() const noexcept { return type_; }

  /// Returns why the elements are not read as `stated` or, without it, why they must be stated,
  /// with the remedy: float64 and bfloat16 are seldom meant. Empty if they are read.
  std::string dtype_problem(std::optional<dtype> stated) const;

  /// Reads all elements.
  /// @pre `to` has `type().bytes()` bytes
  /// @throws input_error naming the file
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

/// Writes a tensor as a NumPy file of version 1.0, atomically.
/// @throws run_error naming the path; an existing file is then unchanged.
void write_npy(const std::filesystem::path& path, const tensor_type& type,
               std::span<const std::byte> data);

}  // namespace graphline
