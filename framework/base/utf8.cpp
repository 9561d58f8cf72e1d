#include "framework/base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace graphline {
namespace {

struct code_range {
  char32_t first;
  char32_t last;
};

// Sorted for binary search.
constexpr code_range zero_width[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a},  {0x064b, 0x065f},
    {0x0900, 0x0902}, {0x0e34, 0x0e3a}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},  {0x200b, 0x200d},
    {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef}};
constexpr code_range double_width[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},
                                       {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
                                       {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
                                       {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
constexpr code_range controls[] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0x061c, 0x061c},
                                   {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069},
                                   {0xfeff, 0xfeff}};

template <std::size_t n>
bool contains(const code_range (&ranges)[n], char32_t code) noexcept {
  const auto* found =
      std::lower_bound(std::begin(ranges), std::end(ranges), code,
                       [](const code_range& range, char32_t c) { return range.last < c; });
  return found != std::end(ranges) && found->first <= code;
}

constexpr char32_t replacement = 0xfffd;

struct named_character {
  char32_t code;
  std::string_view name;
};
constexpr named_character lookalikes[] = {
    {0x0085, "next line"},
    {0x00a0, "no-break space"},
    {0x00ad, "soft hyphen"},
    {0x1680, "ogham space mark"},
    {0x180e, "mongolian vowel separator"},
    {0x2000, "en quad"},
    {0x2001, "em quad"},
    {0x2002, "en space"},
    {0x2003, "em space"},
    {0x2004, "three-per-em space"},
    {0x2005, "four-per-em space"},
    {0x2006, "six-per-em space"},
    {0x2007, "figure space"},
    {0x2008, "punctuation space"},
    {0x2009, "thin space"},
    {0x200a, "hair space"},
    {0x200b, "zero width space"},
    {0x200c, "zero width non-joiner"},
    {0x200d, "zero width joiner"},
    {0x2028, "line separator"},
    {0x2029, "paragraph separator"},
    {0x202f, "narrow no-break space"},
    {0x205f, "medium mathematical space"},
    {0x2060, "word joiner"},
    {0x3000, "ideographic space"},
    {0x3164, "hangul filler"},
    {0xfeff, "zero width no-break space, the byte order mark"},
};

}  // namespace

utf8_character utf8_at(std::string_view text, std::size_t at) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  if (lead < 0x80) return {char32_t{lead}, 1};

  // The size of the character in bytes, and the lowest code point of each size.
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

std::string_view lookalike_of_space(char32_t code) noexcept {
  const auto* found = std::ranges::find(lookalikes, code, &named_character::code);
  return found == std::end(lookalikes) ? std::string_view() : found->name;
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

std::string with_spaces_named(std::string_view text) {
  const bool plain = std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
  if (plain) return std::string(text);
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const auto [code, bytes] = utf8_at(text, at);
    if (code && !lookalike_of_space(*code).empty()) {
      shown += fmt::format("<U+{:04X}>", static_cast<std::uint32_t>(*code));
    } else {
      shown += printable(text.substr(at, bytes));
    }
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
  quoted += with_spaces_named(text);
  quoted += rest;
  quoted += '\'';
  return quoted;
}

}  // namespace graphline
