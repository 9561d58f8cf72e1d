#include "framework/base/diagnostic.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "framework/base/utf8.hpp"

namespace graphline {
namespace {

constexpr std::string_view ellipsis = "...";
constexpr std::size_t widest_line = 120;  ///< columns; longer lines are cut
constexpr std::size_t before_place = 50;  ///< characters kept before the place when a line is cut

std::string to_spaces(std::string_view text) {
  return std::string(text.size(), ' ');
}

/// Returns the offset of the character `count` characters before byte `end`; at least 0.
std::size_t step_back(std::string_view line, std::size_t end, std::size_t count) {
  std::size_t at = end;
  for (std::size_t i = 0; i < count && at > 0; ++i) {
    --at;
    while (at > 0 && (static_cast<unsigned char>(line[at]) & 0xc0U) == 0x80U) --at;
  }
  return at;
}

/// Returns `line`, cut around the place if it is long, and a line with "^~~~" below the bytes from
/// `begin` to `end`.
std::pair<std::string, std::string> excerpt(std::string_view line, std::size_t begin,
                                            std::size_t end) {
  // No line has more columns than bytes, so a line of at most `widest_line` bytes is not cut.
  std::size_t at = line.size() > widest_line ? step_back(line, begin, before_place) : 0;
  std::string text(at > 0 ? ellipsis : "");
  std::string marks = to_spaces(text);
  bool pointed = false;
  for (std::size_t columns = text.size(); at < line.size() && columns < widest_line;) {
    const utf8_character next = utf8_at(line, at);
    const std::string_view raw = line.substr(at, next.bytes);
    const bool tab = raw == "\t";
    const bool shown = tab || (next.code && !is_control(*next.code));
    const std::size_t width = shown && !tab ? display_width(*next.code) : 1;
    text += shown ? raw : "?";
    if (at < begin) {
      marks += tab ? "\t" : std::string(width, ' ');  // keeps tabs to align the caret
    } else if (!pointed) {
      marks += '^' + std::string(std::max<std::size_t>(width, 1) - 1, '~');
      pointed = true;
    } else if (at < end) {
      marks += std::string(width, '~');
    }
    columns += width;
    at += next.bytes;
  }
  if (at < line.size()) text += ellipsis;
  if (!pointed) marks += '^';  // at the end of the line
  return {std::move(text), std::move(marks)};
}

std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); at += utf8_at(text, at).bytes) ++count;
  return count;
}

std::string_view word_for(severity s) {
  return s == severity::error ? "error" : "warning";
}

/// Cuts the middle out of a long message. The end is kept because it contains the remedy.
std::string bounded(std::string_view message) {
  constexpr std::size_t longest = 2000;
  constexpr std::size_t end = 500;
  if (message.size() <= longest) return std::string(message);
  return fmt::format("{} {} {}", message.substr(0, longest - end), ellipsis,
                     message.substr(message.size() - end));
}

}  // namespace

std::string diagnostic::render() const {
  const std::string what =
      fmt::format("{}: {}", word_for(severity), with_spaces_named(bounded(message)));
  if (!place) return what;
  const std::string name = with_spaces_named(place.source->name());
  if (place.line == 0) return fmt::format("{}: {}", name, what);

  const std::string_view line = place.source->line(place.line);
  const std::size_t begin = std::min(place.column == 0 ? 0 : place.column - 1, line.size());
  const std::size_t end = std::min(begin + std::max<std::size_t>(place.length, 1), line.size());
  const std::string header = fmt::format("{}:{}:{}: {}", name, place.line,
                                         count_characters(line.substr(0, begin)) + 1, what);
  if (line.find_first_not_of(" \t") == std::string_view::npos) return header;
  const auto [text, marks] = excerpt(line, begin, end);
  const std::string gutter = fmt::format("{:>5}", place.line);
  return fmt::format("{}\n{} | {}\n{} | {}", header, gutter, text, to_spaces(gutter), marks);
}

void diagnostics::add(diagnostic found) {
  if (found.severity == severity::error) ++errors_;
  all_.push_back(std::move(found));
}

void diagnostics::error(const graphline::place& where, std::string message) {
  add({severity::error, where, std::move(message)});
}

void diagnostics::warning(const graphline::place& where, std::string message) {
  add({severity::warning, where, std::move(message)});
}

std::string diagnostics::render(std::size_t limit) const {
  // Diagnostics without a file come first, then the files in order of first use.
  std::map<const source_text*, std::size_t> files{{nullptr, 0}};
  for (const diagnostic& d : all_) files.try_emplace(d.place.source.get(), files.size());
  const auto key = [&](const diagnostic& d) {
    return std::tuple(files.at(d.place.source.get()), d.place.line, d.place.column);
  };
  std::vector<std::reference_wrapper<const diagnostic>> sorted(all_.begin(), all_.end());
  std::ranges::stable_sort(sorted, std::less<>(), key);
  // A value that is used twice is reported twice. Keep one of the equal diagnostics.
  const auto again = [&](const diagnostic& a, const diagnostic& b) {
    return key(a) == key(b) && a.message == b.message;
  };
  sorted.erase(std::unique(sorted.begin(), sorted.end(), again), sorted.end());

  std::string text;
  for (std::size_t i = 0; i < std::min(limit, sorted.size()); ++i) {
    if (i > 0) text += '\n';
    text += sorted[i].get().render();
  }
  if (sorted.size() > limit) text += fmt::format("\n... and {} more", sorted.size() - limit);
  return text;
}

void diagnostics::throw_if_errors() const {
  if (has_errors()) throw input_error(render());
}

namespace {

/// Returns the word in lower case, with "-" replaced by "_".
std::string folded(std::string_view word) {
  std::string result(word);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-') c = '_';
  }
  return result;
}

/// Returns the optimal string alignment distance (restricted Damerau-Levenshtein distance).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string* best = nullptr;
  std::size_t fewest = 0;
  for (const std::string& candidate : candidates) {
    const std::size_t shorter = std::min(word.size(), candidate.size());
    const std::size_t longer = std::max(word.size(), candidate.size());
    // Allows edits to a third of the letters, up to three edits. Allows none in words of up to
    // three letters, because "gpu" is not a typo of "cpu".
    const std::size_t allowed = longer <= 3 ? 0 : std::min<std::size_t>(longer / 3, 3);
    if (shorter == 0 || longer - shorter > allowed) continue;
    const std::size_t edits = distance(folded(word), folded(candidate));
    if (edits > allowed) continue;
    if (best == nullptr || edits < fewest) {
      best = &candidate;
      fewest = edits;
    }
  }
  return best == nullptr ? std::string() : *best;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates,
                       std::size_t list_up_to) {
  if (const std::string near = nearest(word, candidates); !near.empty()) {
    return " (did you mean '" + near + "'?)";
  }
  if (candidates.empty() || candidates.size() > list_up_to) return {};
  return fmt::format(" (known: {})", fmt::join(candidates, ", "));
}

}  // namespace graphline
