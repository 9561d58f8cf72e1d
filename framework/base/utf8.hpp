#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace graphline {

/// A character of a UTF-8 text: its code point and its size in bytes. An invalid byte is a
/// character of size 1 without a code point.
struct utf8_character {
  std::optional<char32_t> code;
  std::size_t bytes = 1;
};

/// Decodes the character at byte `at`. Overlong forms, surrogates and code points beyond U+10FFFF
/// are invalid (RFC 3629).
/// @pre `at < text.size()`
utf8_character utf8_at(std::string_view text, std::size_t at) noexcept;

/// Returns the offset of the first invalid sequence; empty if `text` is valid UTF-8.
std::optional<std::size_t> first_invalid_utf8(std::string_view text) noexcept;

/// Returns the width of a character in terminal columns: 0 for combining marks, 2 for East Asian
/// wide characters and most emoji, else 1. Approximates the Unicode property East Asian Width.
std::size_t display_width(char32_t code) noexcept;

/// Returns true for characters that a terminal interprets: control characters, line and paragraph
/// separators, and marks that change the text direction.
bool is_control(char32_t code) noexcept;

/// Returns the Unicode name, such as "no-break space", of a character that is invisible or looks
/// like a space. Empty for other characters.
std::string_view lookalike_of_space(char32_t code) noexcept;

/// Replaces control characters, invalid bytes and U+FFFD by "?".
std::string printable(std::string_view text);

/// Same as `printable`, but shows the code points of lookalikes of spaces: net<U+200B>work.
std::string with_spaces_named(std::string_view text);

/// Replaces each invalid byte by U+FFFD.
std::string as_utf8(std::string_view text);

/// Returns `with_spaces_named(text)` in quotes. Cuts text longer than `limit` bytes and adds "...".
std::string quote(std::string_view text, std::size_t limit = 60);

}  // namespace graphline
