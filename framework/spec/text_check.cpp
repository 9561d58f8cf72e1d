#include "framework/spec/text_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "framework/base/utf8.hpp"

namespace graphline {
namespace {

bool is_forbidden(std::string_view text, std::size_t at) {
  const auto c = static_cast<unsigned char>(text[at]);
  if (c == '\r') return at + 1 == text.size() || text[at + 1] != '\n';
  return c == 0x7f || (c < 0x20 && c != '\t' && c != '\n');
}

place place_of(const std::shared_ptr<const source_text>& source, std::size_t at) {
  const std::string_view before = std::string_view(source->text()).substr(0, at);
  const auto line = static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1;
  const std::size_t line_end = before.rfind('\n');
  const std::size_t line_start = line_end == std::string_view::npos ? 0 : line_end + 1;
  return {source, line, at - line_start + 1, 1};
}

}  // namespace

std::optional<diagnostic> find_unreadable(const std::shared_ptr<const source_text>& source) {
  const std::string_view text = source->text();
  std::optional<diagnostic> found;
  if (text.find('\0') != std::string_view::npos) {
    found.emplace().place.source = source;
    found->message = "this is a binary file, not YAML";
    return found;
  }
  if (const auto at = first_invalid_utf8(text)) {
    return diagnostic{severity::error, place_of(source, *at),
                      fmt::format("the byte 0x{:02x} is not UTF-8; save the file as UTF-8",
                                  static_cast<unsigned char>(text[*at]))};
  }
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_forbidden(text, at)) continue;
    return diagnostic{severity::error, place_of(source, at),
                      text[at] == '\r'
                          ? "a carriage return without a line feed; use Unix or Windows line ends"
                          : fmt::format("the control character 0x{:02x} cannot stand in YAML",
                                        static_cast<unsigned char>(text[at]))};
  }
  return std::nullopt;
}

}  // namespace graphline
