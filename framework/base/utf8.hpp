#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace graphline {

/// One character of a UTF-8 text: its code point, or none where the bytes are not valid UTF-8, and
/// how many bytes it takes (1 for an invalid byte).
struct utf8_character {
  std::optional<char32_t> code;
  std::size_t bytes = 1;
};

/// The character that begins at byte `at`, which must lie within `text`. Overlong forms, surrogates
/// and code points beyond U+10FFFF are invalid, as in RFC 3629.
utf8_character utf8_at(std::string_view text, std::size_t at) noexcept;

/// The byte of the first invalid sequence, or nothing if all of `text` is UTF-8.
std::optional<std::size_t> first_invalid_utf8(std::string_view text) noexcept;

/// How many columns a terminal gives a character: 0 for combining marks, 2 for East Asian wide ones
/// and most emoji, else 1 (after the Unicode East Asian Width property, by blocks).
std::size_t display_width(char32_t code) noexcept;

/// True for what a terminal would act on instead of showing it: control characters, line and
/// paragraph separators, and the marks that reverse the direction of what follows.
bool is_control(char32_t code) noexcept;

/// The name in Unicode of a character that looks like a space or like nothing and is not U+0020,
/// such as "no-break space". Empty for every other.
std::string_view lookalike_of_space(char32_t code) noexcept;

/// `text` fit to be shown on one line: control characters, invalid bytes, and the U+FFFD that a
/// file has in place of these become "?".
std::string printable(std::string_view text);

/// The same, with lookalikes of spaces named: net<U+200B>work.
std::string with_spaces_named(std::string_view text);

/// `text` with U+FFFD in place of each byte that is not UTF-8.
std::string as_utf8(std::string_view text);

/// `text` with spaces named, in quotes for a message; what is longer than `limit` bytes is cut and
/// ends in "...".
std::string quote(std::string_view text, std::size_t limit = 60);

}  // namespace graphline
