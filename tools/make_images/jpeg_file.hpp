#pragma once

#include <filesystem>

#include "tools/make_images/landscape.hpp"

namespace graphline {

/// Writes a picture as a JPEG of quality 90. Throws `input_error` that names the file when it
/// cannot be created, `run_error` when it cannot be written in full.
void write_jpeg(const picture& image, const std::filesystem::path& file);

}  // namespace graphline
