#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "framework/base/place.hpp"

namespace graphline {

/// Reads a file of at most `largest` bytes, a whole number of MiB. Throws an `input_error` in the
/// form of a diagnostic when it is not there (with the name that was meant, where one is near), is
/// a folder, empty or larger, or cannot be read.
std::shared_ptr<const source_text> read_text_file(const std::string& path, std::size_t largest);

/// The folder that a file lies in, at which relative paths in it start; "." where the path names
/// none.
std::string folder_of(const std::string& path);

/// " (did you mean 'NAME'?)" where the folder of `path` holds a file of nearly that name, nothing
/// otherwise.
std::string near_file(const std::string& path);

}  // namespace graphline
