#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace graphline {

struct jpeg_size {
  std::size_t height = 0;
  std::size_t width = 0;
};

/// Reads the header of a file and returns the size of the image that `decode_jpeg` makes of it.
/// `reduce` 1, 2, 4 or 8 divides the height and width.
/// @throws run_error as `decode_jpeg`, and if the file cannot be read
jpeg_size size_of_jpeg(const std::string& file, std::int64_t reduce);

/// Decodes a JPEG file with libjpeg-turbo to interleaved R, G, B bytes and turns it upright by its
/// Exif orientation. Grey images become RGB. libjpeg reduces the size in the inverse DCT, which
/// costs much less than a resize. Accepts damage that costs no pixels.
///
/// Writes the image at the top left of rows of `most.width` pixels and leaves all other pixels
/// unchanged.
/// @throws run_error with the name of `file` and libjpeg's message if the file is not a JPEG, is
/// damaged or truncated, holds CMYK, is larger than `most`, has more than 2^28 pixels or 32 scans,
/// or has several scans and would take more than 256 MiB
jpeg_size decode_jpeg(std::span<const std::uint8_t> data, const std::string& file,
                      std::int64_t reduce, jpeg_size most, std::uint8_t* pixels);

}  // namespace graphline
