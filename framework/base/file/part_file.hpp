#pragma once

#include <string>
#include <string_view>

namespace graphline {

// A result is written to a temporary file beside its place, ".NAME.graphline-XXXXXX" with six
// random letters or digits, and takes its name when it is whole. Names of this form are reserved:
// no option writes a result to one.

/// Whether a file name has this form.
bool is_part_name(std::string_view file_name);

/// An open and locked temporary file; its owner closes and renames or removes it.
struct part_file {
  std::string name;
  int descriptor = -1;
};

/// Makes the temporary file of `target`, and removes those that killed runs left of it. `path`:
/// what the user called the target, for messages. Throws an `input_error` where no file can be made
/// there, or where another run, or another option of this one, is writing the target.
part_file make_part(const std::string& target, const std::string& path);

}  // namespace graphline
