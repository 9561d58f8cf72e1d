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

/// Origin of a path. Users may name a pipe or /dev/stdin; a path within a file must name a regular
/// file, so that reading it cannot block.
enum class named_by { file, user };

/// Unreadable text file. The message is a diagnostic about the file.
class unreadable_file : public input_error {
 public:
  unreadable_file(const std::string& path, std::string why);
  explicit unreadable_file(const diagnostic& problem);  ///< at a place in the file

  /// The reason alone, such as "there is no such file".
  const std::string& reason() const noexcept { return reason_; }

 private:
  std::string reason_;
};

/// Reads a file of at most `largest` bytes, a whole number of MiB.
/// @throws unreadable_file if the file is missing (with a suggestion), a folder, empty, too large,
/// a Git LFS pointer or unreadable, or not a regular file and `who` is `named_by::file`.
std::shared_ptr<const source_text> read_text_file(const std::string& path, std::size_t largest,
                                                  named_by who = named_by::file);

/// Binary file open for reading, positioned at its beginning.
struct binary_file {
  std::ifstream stream;
  std::uint64_t size = 0;
};

/// The end of an error message if the file is a Git LFS pointer, else empty. Rewinds the file.
/// @pre `file` is at its beginning
std::optional<std::string> lfs_pointer_problem(std::istream& file);

/// Opens a regular file. `what` names it in messages: "weights file".
/// @throws input_error if the file is missing (with a suggestion), not a regular file, unreadable
/// or a Git LFS pointer.
binary_file open_binary_file(const std::string& path, std::string_view what);

/// The parent folder of a path; "." if the path has none.
std::string folder_of(const std::string& path);

/// " (did you mean 'NAME'?)" if the folder of `path` has a file with a similar name, else empty.
std::string suggest_file(const std::string& path);

}  // namespace graphline
