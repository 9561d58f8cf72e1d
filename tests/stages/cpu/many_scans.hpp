#pragma once

#include <string>

namespace graphline {

/// A JPEG of `side` x `side` pixels of one color, whose coefficients come bit by bit in 896 scans
/// (ITU-T T.81, annex G). It has 9 kB, because a scan in arithmetic coding may end at its header,
/// after which a decoder reads zeros. A decoder holds all coefficients and passes over them in
/// every scan.
inline std::string jpeg_of_many_scans(unsigned side) {
  const auto byte = [](unsigned value) { return static_cast<char>(value & 0xFF); };
  const auto segment = [&](unsigned marker, const std::string& body) {
    const auto length = static_cast<unsigned>(body.size()) + 2;
    return std::string{'\xff', byte(marker), byte(length >> 8), byte(length)} + body;
  };
  const std::string extent{byte(side >> 8), byte(side)};
  auto file = "\xff\xd8" + segment(0xDB, '\0' + std::string(64, '\1')) +
              segment(0xCA, '\10' + extent + extent + std::string("\3\1\21\0\2\21\0\3\21\0", 10));
  constexpr unsigned highest = 13;
  for (unsigned at = 0; at < 64; ++at) {
    const auto components = at == 0 ? std::string("\3\1\0\2\0\3\0", 7) : std::string("\1\1\0", 3);
    for (unsigned bit = highest + 1; bit-- > 0;) {
      const auto before = bit == highest ? 0 : bit + 1;
      file += segment(0xDA, components + std::string{byte(at), byte(at), byte(before << 4 | bit)});
    }
  }
  return file + "\xff\xd9";
}

}  // namespace graphline
