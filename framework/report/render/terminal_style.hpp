#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace graphline {

/// Role of a text, shown as a color if available.
enum class color { plain, heading, faint, good, bad, warning };

/// Capabilities of the output.
struct terminal_style {
  bool colors = false;     ///< supports color escape sequences (ECMA-48, SGR)
  std::size_t width = 80;  ///< columns
};

/// Returns `text` between escape sequences if colors are supported. `printable` removes such
/// sequences from names.
std::string colored(std::string_view text, color in, const terminal_style& as);

/// Returns how many bytes of `text` are safe for a terminal: those before any invalid UTF-8 or
/// control character. Line ends and tabs may be printed as they are and, if `colors` is set, so may
/// the escape sequences that `colored` writes.
std::size_t shown_bytes(std::string_view text, bool colors) noexcept;

/// Returns the length of the sequence of `colored` at the start of `text`; 0 if there is none.
std::size_t escape_at(std::string_view text) noexcept;

}  // namespace graphline
