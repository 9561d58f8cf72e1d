#include "framework/base/utf8.hpp"

#include <algorithm>
#include <iterator>

namespace graphline {
namespace {

struct code_range {
  char32_t first;
  char32_t last;
};

// Sorted, so that a search can stop early.
constexpr code_range zero_width[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a},  {0x064b, 0x065f},
    {0x0900, 0x0902}, {0x0e34, 0x0e3a}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},  {0x200b, 0x200d},
    {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef}};
constexpr code_range double_width[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},
                                       {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
                                       {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
                                       {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
constexpr code_range controls[] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0x200e, 0x200f},
                                   {0x2028, 0x202e}, {0x2066, 0x2069}, {0xfeff, 0xfeff}};

template <std::size_t n>
bool contains(const code_range (&ranges)[n], char32_t code) noexcept {
  const auto* found =
      std::lower_bound(std::begin(ranges), std::end(ranges), code,
                       [](const code_range& range, char32_t c) { return range.last < c; });
  return found != std::end(ranges) && found->first <= code;
}

constexpr char32_t replacement = 0xfffd;

}  // namespace

utf8_character utf8_at(std::string_view text, std::size_t at) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  if (lead < 0x80) return {char32_t{lead}, 1};

  // Number of bytes and the least code point that needs so many.
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (lead < 0xc2 || lead > 0xf4 || at + bytes > text.size()) return {};

  char32_t code = lead & (0x7fU >> bytes);
  for (std::size_t i = at + 1; i < at + bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return {};
    code = (code << 6) | (byte(i) & 0x3fU);
  }
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < least[bytes] || code > 0x10ffff || surrogate) return {};
  return {code, bytes};
}

std::optional<std::size_t> first_invalid_utf8(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    const utf8_character character = utf8_at(text, at);
    if (!character.code) return at;
    at += character.bytes;
  }
  return std::nullopt;
}

std::size_t display_width(char32_t code) noexcept {
  if (contains(zero_width, code)) return 0;
  return contains(double_width, code) ? 2 : 1;
}

bool is_control(char32_t code) noexcept {
  return contains(controls, code);
}

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto [code, bytes] = utf8_at(text, at);
    const bool hidden = !code || *code == replacement || is_control(*code);
    shown += hidden ? std::string_view("?") : text.substr(at, bytes);
    at += bytes;
  }
  return shown;
}

std::string as_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto [code, bytes] = utf8_at(text, at);
    valid += code ? text.substr(at, bytes) : std::string_view("\xef\xbf\xbd");
    at += bytes;
  }
  return valid;
}

std::string quote(std::string_view text, std::size_t limit) {
  std::string_view rest;
  if (text.size() > limit) {
    std::size_t end = 0;
    for (std::size_t next = 0; next <= limit; next += utf8_at(text, next).bytes) end = next;
    text = text.substr(0, end);
    rest = "...";
  }
  std::string quoted = "'";
  quoted += printable(text);
  quoted += rest;
  quoted += '\'';
  return quoted;
}

}  // namespace graphline
