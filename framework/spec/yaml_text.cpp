#include "framework/spec/yaml_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

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

std::size_t find_lookalike(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const utf8_character character = utf8_at(text, at);
    if (character.code && !lookalike_of_space(*character.code).empty()) return at;
    at += character.bytes;
  }
  return std::string_view::npos;
}

unreadable_yaml lookalike_at(const std::shared_ptr<const source_text>& source, std::size_t line,
                             std::size_t at) {
  const auto [code, bytes] = utf8_at(source->line(line), at);
  return {{source, line, at + 1, bytes},
          fmt::format("the character U+{:04X} ({}) is not a space to YAML; type a plain space or "
                      "remove it",
                      static_cast<std::uint32_t>(*code), lookalike_of_space(*code))};
}

std::optional<unreadable_yaml> lookalike_near(const std::shared_ptr<const source_text>& source,
                                              std::size_t line) {
  for (std::size_t number = line > 2 ? line - 2 : 1; number <= line; ++number) {
    std::string_view text = source->line(number);
    text = text.substr(0, text.starts_with('#') ? 0 : text.find(" #"));
    const std::size_t at = find_lookalike(text);
    if (at != std::string_view::npos) return lookalike_at(source, number, at);
  }
  return std::nullopt;
}

std::optional<place> tab_near(const std::shared_ptr<const source_text>& source, std::size_t line) {
  for (std::size_t number = line > 2 ? line - 2 : 1; number <= line; ++number) {
    const std::string_view text = source->line(number);
    const std::string_view indent = text.substr(0, text.find_first_not_of(" \t"));
    const std::size_t tab = indent.find('\t');
    if (tab != std::string_view::npos) return place{source, number, tab + 1, indent.size() - tab};
  }
  return std::nullopt;
}

std::optional<place> missing_colon_above(const std::shared_ptr<const source_text>& source,
                                         std::size_t line) {
  const std::string_view below = source->line(line);
  const std::size_t indent = below.find_first_not_of(' ');
  while (line > 1) {
    const std::string_view text = source->line(--line);
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos || text[begin] == '#') continue;
    const std::size_t end = text.find_last_not_of(' ') + 1;
    if (begin != indent || text.find(':') != std::string_view::npos) return std::nullopt;
    return place{source, line, begin + 1, end - begin};
  }
  return std::nullopt;
}

}  // namespace graphline
