#include "framework/report/render/terminal_style.hpp"

#include "framework/base/utf8.hpp"

namespace graphline {

namespace {

constexpr std::string_view reset = "\x1b[0m";

/// Uses the basic colors, which the terminal's scheme makes readable on its background.
std::string_view sequence_of(color in) noexcept {
  switch (in) {
    case color::heading:
      return "\x1b[1m";
    case color::faint:
      return "\x1b[2m";
    case color::good:
      return "\x1b[32m";
    case color::bad:
      return "\x1b[31m";
    case color::warning:
      return "\x1b[33m";
    case color::plain:
      break;
  }
  return "";
}

}  // namespace

std::string colored(std::string_view text, color in, const terminal_style& as) {
  const auto sequence = sequence_of(in);
  if (!as.colors || sequence.empty() || text.empty()) return std::string(text);
  return std::string(sequence).append(text).append(reset);
}

std::size_t escape_at(std::string_view text) noexcept {
  if (text.starts_with(reset)) return reset.size();
  for (const auto one : {color::heading, color::faint, color::good, color::bad, color::warning}) {
    if (text.starts_with(sequence_of(one))) return sequence_of(one).size();
  }
  return 0;
}

std::size_t shown_bytes(std::string_view text, bool colors) noexcept {
  std::size_t at = 0;
  while (at < text.size()) {
    if (const auto sequence = colors ? escape_at(text.substr(at)) : 0; sequence > 0) {
      at += sequence;
      continue;
    }
    const auto character = utf8_at(text, at);
    const bool layout = text[at] == '\n' || text[at] == '\t';
    if (!character.code || (is_control(*character.code) && !layout)) break;
    at += character.bytes;
  }
  return at;
}

}  // namespace graphline
