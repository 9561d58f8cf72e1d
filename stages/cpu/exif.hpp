#pragma once

#include <cstdint>
#include <span>

namespace graphline {

/// The tag Orientation in the Exif segment of a picture (JEITA CP-3451): 1 upright, 2 mirrored, 3
/// upside down, 4 flipped, 5 to 8 with rows as columns; 1 if it is missing or invalid. `jpeg` is
/// the beginning of a JPEG file.
int exif_orientation(std::span<const std::uint8_t> jpeg) noexcept;

/// Bytes of a file to search: the segment has at most 64 KiB and is near the beginning.
inline constexpr std::size_t exif_reach = std::size_t{128} << 10;

}  // namespace graphline
