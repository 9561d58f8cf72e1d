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
  bool blocks = true;      ///< block characters can be shown (U+2581 to U+2588); else ASCII

  /// Columns for what takes `at_eighty` of 80: more where there are more, never less.
  std::size_t room(std::size_t at_eighty) const noexcept {
    return width <= 80 ? at_eighty : at_eighty + (width - 80) / 2;
  }
};

/// `text` in a color: between escape sequences where there is color, each line for itself, and as
/// it is where there is none. Escape sequences in the text would not survive `printable`, so that
/// a name brings none.
std::string colored(std::string_view text, color in, const terminal_style& as);

/// How many bytes at the start of `text` a terminal shows as they are meant: up to what it would
/// act on, ends of lines, tabs and, where there are colors, the sequences of `colored` aside, or to
/// what is no UTF-8.
std::size_t shown_bytes(std::string_view text, bool colors) noexcept;

/// Bytes of the escape sequence that `text` begins with: 0 for none.
std::size_t escape_at(std::string_view text) noexcept;

}  // namespace graphline
