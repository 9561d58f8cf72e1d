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

/// The size of a JPEG file's image at 1, 1/2, 1/4 or 1/8 of its extents (`reduce` 1, 2, 4 or 8),
/// from its header, upright as `decode_jpeg` has it. Throws `run_error` as `decode_jpeg` does, and
/// where it cannot be read.
jpeg_size size_of_jpeg(const std::string& file, std::int64_t reduce);

/// Decodes JPEG files with libjpeg-turbo, to R, G, B in one byte each, and turns them upright where
/// they say how they are stored (Exif). Grey images become RGB. At a
/// part of the size libjpeg does that in the inverse DCT, at a fraction of the cost.
///
/// Writes rows of `most.width` pixels, of which the image takes the first; the others, and rows
/// below it, are left alone. Throws `run_error` that names `file` and carries libjpeg's words when
/// the file is no JPEG, is damaged or cut short, holds CMYK, is larger than `most`, has more than
/// 2^28 pixels or 32 scans, or has several scans and would take more than 256 MiB. Damage that
/// costs no pixels, such as stray bytes between segments, is let pass.
jpeg_size decode_jpeg(std::span<const std::uint8_t> data, const std::string& file,
                      std::int64_t reduce, jpeg_size most, std::uint8_t* pixels);

}  // namespace graphline
