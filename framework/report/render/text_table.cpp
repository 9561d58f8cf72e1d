#include "framework/report/render/text_table.hpp"

#include <algorithm>
#include <iterator>

#include "framework/base/utf8.hpp"

namespace graphline {

namespace {

bool has_digit(std::string_view cell) {
  return std::any_of(cell.begin(), cell.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Where the first word of `text` ends. A number and its unit are one word: a line that begins with
// "us" is hard to read.
std::size_t end_of_word(std::string_view text) {
  constexpr std::string_view units[] = {"ns",  "us",  "ms",  "s",   "B",
                                        "KiB", "MiB", "GiB", "TiB", "%"};
  const auto end = std::min(text.find(' '), text.size());
  if (end == text.size() || !has_digit(text.substr(0, end))) return end;
  const auto next = text.substr(end + 1, text.find(' ', end + 1) - end - 1);
  const auto unit = next.substr(0, next.find_first_of(",;:)"));
  const bool belongs = std::find(std::begin(units), std::end(units), unit) != std::end(units);
  return belongs ? end + 1 + next.size() : end;
}

}  // namespace

std::size_t text_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (const auto escape = escape_at(text.substr(at)); escape > 0) {
      at += escape;
      continue;
    }
    const auto character = utf8_at(text, at);
    width += character.code ? display_width(*character.code) : 1;
    at += character.bytes;
  }
  return width;
}

std::size_t widest_line(std::string_view text) {
  std::size_t widest = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    widest = std::max(widest, text_width(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return widest;
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string result;
  std::size_t used = 0;
  bool at_start = true;
  while (true) {
    const auto end = end_of_word(text);
    const auto word = text.substr(0, end);
    const auto taken = text_width(word);
    if (!at_start && used + 1 + taken > width) {
      result.erase(result.find_last_not_of(' ') + 1);  // of several spaces in a row
      result += '\n' + std::string(indent, ' ');
      used = indent;
    } else if (!at_start) {
      result += ' ';
      ++used;
    }
    result += word;
    used += taken;
    at_start = false;
    if (end == text.size()) return result;
    text.remove_prefix(end + 1);
  }
}

std::string paragraph(std::string_view text, std::size_t indent, const terminal_style& as,
                      color in) {
  constexpr std::size_t readable = 100;
  return colored(wrapped(text, indent, std::min(as.width, readable)), in, as) + '\n';
}

std::string table_name(std::string_view name, std::size_t width) {
  const auto shown = printable(name);
  auto total = text_width(shown);
  if (total <= width) return shown;
  std::vector<std::size_t> starts;
  for (std::size_t at = 0; at < shown.size(); at += utf8_at(shown, at).bytes) starts.push_back(at);
  starts.push_back(shown.size());
  const auto width_of = [&](std::size_t i) {
    return text_width(std::string_view(shown).substr(starts[i], starts[i + 1] - starts[i]));
  };
  // Takes from the middle until what is left and the mark fit.
  constexpr std::string_view mark = "…";
  total += text_width(mark);
  const std::size_t characters = starts.size() - 1;
  std::size_t head = characters / 2;
  std::size_t tail = head;
  while (total > width && (head > 0 || tail < characters)) {
    total -= head > characters - tail ? width_of(--head) : width_of(tail++);
  }
  return shown.substr(0, starts[head]).append(mark).append(shown, starts[tail]);
}

}  // namespace graphline
