#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace graphline {

/// An image in memory: rows from the top, pixels from the left, each R, G, B in one byte.
struct rgb_image {
  std::size_t height = 0;
  std::size_t width = 0;
  std::vector<std::uint8_t> pixels;
};

/// Decodes JPEG files with libjpeg-turbo. Grey images become RGB.
///
/// Where the file is at least twice, four or eight times as high and wide as `least_height` and
/// `least_width`, it is decoded at that fraction of its size, which libjpeg does in the inverse DCT
/// at a fraction of the cost.
///
/// `image` is written over; its memory is used again. Throws `run_error` that names `file` and
/// carries libjpeg's words when the file is no JPEG, is damaged or cut short, holds CMYK, has more
/// than 2^28 pixels or 32 scans, or has several scans and would take more than 256 MiB, or four
/// times the tensor that it is for where that is more. Damage that costs no pixels, such as stray
/// bytes between segments, is let pass.
void decode_jpeg(std::span<const std::uint8_t> data, const std::string& file,
                 std::size_t least_height, std::size_t least_width, rgb_image& image);

}  // namespace graphline
