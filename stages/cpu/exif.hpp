#pragma once

#include <cstdint>
#include <span>

namespace graphline {

/// How a picture is stored, by the tag Orientation of its Exif segment (JEITA CP-3451): 1 upright,
/// 2 mirrored, 3 upside down, 4 flipped, 5 to 8 with rows as columns. 1 where the file does not say
/// or says it wrongly. `jpeg`: the beginning of a JPEG file.
int exif_orientation(std::span<const std::uint8_t> jpeg) noexcept;

/// How many bytes of a file to look for it in: the segment stands at the beginning and has 64 KiB
/// at most.
inline constexpr std::size_t exif_reach = std::size_t{128} << 10;

}  // namespace graphline
