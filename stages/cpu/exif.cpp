#include "stages/cpu/exif.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace graphline {
namespace {

using byte_span = std::span<const std::uint8_t>;

/// Reads integers of a TIFF structure; 0 beyond its end.
class tiff_reader {
 public:
  tiff_reader(byte_span all, bool little) : all_(all), little_(little) {}

  std::uint32_t short_at(std::size_t at) const noexcept {
    return little_ ? byte(at) | byte(at + 1) << 8 : byte(at) << 8 | byte(at + 1);
  }
  std::uint32_t long_at(std::size_t at) const noexcept {
    return little_ ? short_at(at) | short_at(at + 2) << 16 : short_at(at) << 16 | short_at(at + 2);
  }

 private:
  std::uint32_t byte(std::size_t at) const noexcept { return at < all_.size() ? all_[at] : 0; }

  byte_span all_;
  bool little_;
};

int orientation_in_tiff(byte_span tiff) noexcept {
  constexpr std::uint32_t orientation = 0x0112;
  constexpr std::uint32_t type_short = 3;
  constexpr std::size_t entry_bytes = 12;
  if (tiff.size() < 8 || tiff[0] != tiff[1] || (tiff[0] != 'I' && tiff[0] != 'M')) return 1;
  const tiff_reader read(tiff, tiff[0] == 'I');
  if (read.short_at(2) != 42) return 1;
  const std::size_t directory = read.long_at(4);
  const std::size_t entries = read.short_at(directory);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t at = directory + 2 + i * entry_bytes;
    if (at + entry_bytes > tiff.size()) return 1;
    if (read.short_at(at) != orientation) continue;
    const std::uint32_t value = read.short_at(at + 8);
    const bool sound = read.short_at(at + 2) == type_short && read.long_at(at + 4) == 1;
    return sound && value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

}  // namespace

int exif_orientation(byte_span jpeg) noexcept {
  constexpr std::array<std::uint8_t, 6> exif{'E', 'x', 'i', 'f', 0, 0};
  constexpr std::uint8_t app1 = 0xe1;
  constexpr std::uint8_t start_of_scan = 0xda;
  for (std::size_t at = 2; at + 4 <= jpeg.size();) {
    // Skips bytes before a marker, as libjpeg does.
    if (jpeg[at] != 0xff || jpeg[at + 1] == 0 || jpeg[at + 1] == 0xff) {
      ++at;
      continue;
    }
    const std::uint8_t marker = jpeg[at + 1];
    if (marker == start_of_scan) return 1;
    const std::size_t length = std::size_t{jpeg[at + 2]} << 8 | jpeg[at + 3];
    if (length < 2 || at + 2 + length > jpeg.size()) return 1;
    const byte_span segment = jpeg.subspan(at + 4, length - 2);
    if (marker == app1 && segment.size() >= exif.size() &&
        std::equal(exif.begin(), exif.end(), segment.begin())) {
      return orientation_in_tiff(segment.subspan(exif.size()));
    }
    at += 2 + length;
  }
  return 1;
}

}  // namespace graphline
