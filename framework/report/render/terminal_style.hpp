#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace graphline {

/// Role of a text; it determines the color.
enum class color { plain, heading, faint, good, bad, warning };

/// Capabilities of the output.
struct terminal_style {
  bool colors = false;     ///< supports color escape sequences (SGR)
  std::size_t width = 80;  ///< columns
};

/// Returns `text` between escape sequences if colors are supported. Call `printable` on names
/// first.
std::string colored(std::string_view text, color in, const terminal_style& as);

/// Returns how many bytes at the start of `text` are safe for a terminal. Invalid UTF-8 and control
/// characters are unsafe, except line ends and tabs. With `colors`, the sequences of `colored` are
/// safe.
std::size_t shown_bytes(std::string_view text, bool colors) noexcept;

/// Returns the length of a `colored` sequence at the start of `text`, in bytes; 0 if none.
std::size_t escape_at(std::string_view text) noexcept;

}  // namespace graphline
