#include "framework/spec/names.hpp"

#include <fmt/format.h>

#include "framework/base/utf8.hpp"

namespace graphline {
namespace {

constexpr std::size_t longest_name = 100;

bool may_stand_in_a_name(char32_t c) noexcept {
  if (c == '_' || c == '-' || c == '.') return true;
  if (c < 0x80) return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  // Beyond ASCII: no controls, and none of the spaces of General Punctuation and elsewhere.
  const bool space = c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200b) || c == 0x202f ||
                     c == 0x205f || c == 0x3000;
  return !space && !is_control(c);
}

}  // namespace

bool is_name(std::string_view text) noexcept {
  if (text.empty() || text.size() > longest_name || text == "." || text == "..") return false;
  for (std::size_t at = 0; at < text.size();) {
    const utf8_character character = utf8_at(text, at);
    if (!character.code || !may_stand_in_a_name(*character.code)) return false;
    at += character.bytes;
  }
  return true;
}

bool check_name(const named& name, std::string_view what, diagnostics& out) {
  if (is_name(name.text)) return true;
  if (name.text.empty()) {
    out.error(name.place, fmt::format("the name of {} is empty", what));
  } else if (name.text.size() > longest_name) {
    out.error(name.place, fmt::format("the name of {} is longer than {} bytes: {}", what,
                                      longest_name, quote(name.text)));
  } else {
    out.error(name.place, fmt::format("{} cannot be the name of {}: a name is made of letters, "
                                      "digits, '_', '-' and '.'",
                                      quote(name.text), what));
  }
  return false;
}

bool check_label(const named& name, std::string_view what, diagnostics& out) {
  const bool blank = name.text.find_first_not_of(' ') == std::string::npos;
  if (!blank && name.text.size() <= longest_name && printable(name.text) == name.text) return true;
  if (blank) {
    out.error(name.place, fmt::format("the name of {} is empty", what));
  } else if (name.text.size() > longest_name) {
    out.error(name.place, fmt::format("the name of {} is longer than {} bytes: {}", what,
                                      longest_name, quote(name.text)));
  } else {
    out.error(name.place, fmt::format("{} cannot be the name of {}: it holds a control character",
                                      quote(name.text), what));
  }
  return false;
}

}  // namespace graphline
