#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "framework/base/diagnostic.hpp"
#include "framework/base/error.hpp"
#include "framework/base/place.hpp"

namespace graphline {

/// Who named a path. A user may name a pipe or /dev/stdin. A path from a file must name a regular
/// file, so that reading it cannot block.
enum class named_by { file, user };

/// Thrown if a text file is unreadable. The message is a rendered diagnostic.
class unreadable_file : public input_error {
 public:
  unreadable_file(const std::string& path, std::string why);
  explicit unreadable_file(const diagnostic& problem);  ///< for a problem at a place in the file

  /// Returns only the reason, such as "there is no such file".
  const std::string& reason() const noexcept { return reason_; }

 private:
  std::string reason_;
};

/// Reads a file of at most `largest` bytes, a whole number of MiB.
/// @throws unreadable_file if the file is missing, unreadable, empty, too large, a folder or a Git
/// LFS pointer, or if `who` is `named_by::file` and the file is not a regular file.
std::shared_ptr<const source_text> read_text_file(const std::string& path, std::size_t largest,
                                                  named_by who = named_by::file);

/// A binary file open for reading, positioned at its beginning.
struct binary_file {
  std::ifstream stream;
  std::uint64_t size = 0;
};

/// Returns "is a Git LFS pointer, ..." if `file` is a pointer, else empty. Rewinds `file`.
/// @pre `file` is at its beginning
std::optional<std::string> lfs_pointer_problem(std::istream& file);

/// Opens a regular file. `what` is its name in messages, such as "weights file".
/// @throws input_error if the file is missing, unreadable, not a regular file or a Git LFS pointer.
binary_file open_binary_file(const std::string& path, std::string_view what);

/// Returns the parent folder of a path; "." if the path has none.
std::string folder_of(const std::string& path);

/// Returns " (did you mean 'NAME'?)" if the folder of `path` contains a similar name, else empty.
std::string suggest_file(const std::string& path);

}  // namespace graphline
