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

/// Who gave the path of a file. Users may name a pipe or /dev/stdin; a path in a file leads to a
/// regular file, of which nobody waits for the end.
enum class named_by { file, user };

/// A text file that cannot be read. The message has the form of a diagnostic about the whole file.
class unreadable_file : public input_error {
 public:
  unreadable_file(const std::string& path, std::string why);
  explicit unreadable_file(const diagnostic& problem);  ///< at a place in the file

  /// "there is no such file", for a message that names the file itself.
  const std::string& reason() const noexcept { return reason_; }

 private:
  std::string reason_;
};

/// Reads a file of at most `largest` bytes, a whole number of MiB. Throws an `unreadable_file` when
/// it is not there (with the name that was meant, where one is near), is a folder, no regular file
/// though a file names it, empty or larger, a Git LFS pointer, or cannot be read.
std::shared_ptr<const source_text> read_text_file(const std::string& path, std::size_t largest,
                                                  named_by who = named_by::file);

/// A file opened for reading its bytes, which stand at its beginning.
struct binary_file {
  std::ifstream stream;
  std::uint64_t size = 0;
};

/// What is wrong with a file that stands at its beginning, after its path, where it is only Git
/// LFS's pointer to it; nothing for any other. The file is at its beginning again.
std::optional<std::string> lfs_pointer_problem(std::istream& file);

/// Opens a regular file; of anything else the size is not known, and a pipe would be waited for.
/// Throws an `input_error` that begins with `what` ("weights file") and the path when it is not
/// there (with the name that was meant, where one is near), cannot be opened or is a Git LFS
/// pointer.
binary_file open_binary_file(const std::string& path, std::string_view what);

/// The folder that a file lies in, at which relative paths in it start; "." where the path names
/// none.
std::string folder_of(const std::string& path);

/// " (did you mean 'NAME'?)" where the folder of `path` holds a file of nearly that name, nothing
/// otherwise.
std::string suggest_file(const std::string& path);

}  // namespace graphline
