#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace graphline {

/// What a text is to whoever reads it; a color where there are any.
enum class color { plain, heading, faint, good, bad, warning };

/// What the place that a text is shown in can take.
struct terminal_style {
  bool colors = false;     ///< escape sequences for colors (ECMA-48, SGR) are understood
  std::size_t width = 80;  ///< columns
};

/// `text` in a color: between escape sequences where there is color, and as it is where there is
/// none. Escape sequences in the text would not survive `printable`, so that a name brings none.
std::string colored(std::string_view text, color in, const terminal_style& as);

/// How many bytes at the start of `text` a terminal shows as they are meant: up to what it would
/// act on, ends of lines, tabs and, where there are colors, the sequences of `colored` aside, or to
/// what is no UTF-8.
std::size_t shown_bytes(std::string_view text, bool colors) noexcept;

/// Bytes of the sequence of `colored` that `text` begins with: 0 for none.
std::size_t escape_at(std::string_view text) noexcept;

}  // namespace graphline
