#include "framework/report/render/terminal_style.hpp"

#include <algorithm>

#include "framework/base/utf8.hpp"

namespace graphline {

namespace {

constexpr std::string_view reset = "\x1b[0m";

/// Of the eight colors that every terminal with colors has, so that its own scheme decides how
/// they stand on its background.
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

/// Bytes of the sequence of ours that `text` begins with: 0 for none.
std::size_t color_sequence_at(std::string_view text) noexcept {
  if (text.starts_with(reset)) return reset.size();
  for (const auto one : {color::heading, color::faint, color::good, color::bad, color::warning}) {
    if (text.starts_with(sequence_of(one))) return sequence_of(one).size();
  }
  return 0;
}

}  // namespace

std::string colored(std::string_view text, color in, const terminal_style& as) {
  const auto sequence = sequence_of(in);
  if (!as.colors || sequence.empty()) return std::string(text);
  std::string result;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    // Not around spaces: what is cut off at the end of a line must not lie within.
    const auto begin = std::min(line.find_first_not_of(' '), line.size());
    const auto end = line.find_last_not_of(' ') + 1;  // 0 where there are only spaces
    result += line.substr(0, begin);
    if (end > begin) {
      result += sequence;
      result += line.substr(begin, end - begin);
      result += reset;
      result += line.substr(end);
    }
    if (line.size() == text.size()) break;
    result += '\n';
    text.remove_prefix(line.size() + 1);
  }
  return result;
}

std::size_t shown_bytes(std::string_view text, bool colors) noexcept {
  std::size_t at = 0;
  while (at < text.size()) {
    if (const auto sequence = colors ? color_sequence_at(text.substr(at)) : 0; sequence > 0) {
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

std::size_t escape_at(std::string_view text) noexcept {
  if (!text.starts_with("\x1b[")) return 0;
  const auto end = text.find('m');
  return end == text.npos ? 0 : end + 1;
}

}  // namespace graphline
