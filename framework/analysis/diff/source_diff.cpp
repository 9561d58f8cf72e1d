#include "framework/analysis/diff/source_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace graphline {

namespace {

struct numbered_line {
  std::size_t number;
  std::string_view text;
};

std::vector<numbered_line> lines_of(std::string_view text) {
  std::vector<numbered_line> lines;
  for (std::size_t number = 1, at = 0; at < text.size(); ++number) {
    const auto end = std::min(text.find('\n', at), text.size());
    auto line = text.substr(at, end - at);
    at = end + 1;
    constexpr std::string_view white = " \t\r";
    line.remove_prefix(std::min(line.find_first_not_of(white), line.size()));
    if (line.empty() || line.front() == '#') continue;
    lines.push_back({number, line.substr(0, line.find_last_not_of(white) + 1)});
  }
  return lines;
}

/// Entry [i][j] is the length of the longest common subsequence of a[i..] and b[j..].
std::vector<std::vector<std::uint32_t>> common_lengths(const std::vector<numbered_line>& a,
                                                       const std::vector<numbered_line>& b) {
  std::vector<std::vector<std::uint32_t>> lengths(a.size() + 1,
                                                  std::vector<std::uint32_t>(b.size() + 1));
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      lengths[i][j] = a[i].text == b[j].text ? lengths[i + 1][j + 1] + 1
                                             : std::max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  return lengths;
}

std::string_view file_name(const std::string& path) {
  return std::string_view(path).substr(path.rfind('/') + 1);  // npos + 1 is 0 if there is no '/'
}

void compare_files(const source_record& before, const source_record& after,
                   std::vector<fact_change>& to) {
  if (before.text == after.text) return;
  const auto name = file_name(before.file);
  const auto a = lines_of(before.text);
  const auto b = lines_of(after.text);
  constexpr std::size_t most_cells = 10'000'000;
  if (a.size() * b.size() > most_cells) {
    to.push_back({std::string(name),
                  {fmt::format("{} lines", a.size()), fmt::format("{} lines", b.size())}});
    return;
  }
  const auto common = common_lengths(a, b);
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i].text == b[j].text) {
      ++i;
      ++j;
      continue;
    }
    // Report a removed line and an added line as one change.
    const bool remove = i < a.size() && (j == b.size() || common[i + 1][j] == common[i][j]);
    const std::size_t kept = i + (remove ? 1 : 0);
    const bool add = j < b.size() && common[kept][j + 1] == common[i][j];
    fact_change change{fmt::format("{}:{}", name, remove ? a[i].number : b[j].number), {}};
    if (remove) change.texts.before = a[i++].text;
    if (add) change.texts.after = b[j++].text;
    to.push_back(std::move(change));
  }
}

/// Finds a file by name among all files but the first; null if there is none.
const source_record* find(const std::vector<source_record>& in, const std::string& file) {
  for (std::size_t i = 1; i < in.size(); ++i) {
    if (file_name(in[i].file) == file_name(file)) return &in[i];
  }
  return nullptr;
}

}  // namespace

std::vector<fact_change> differences(const std::vector<source_record>& before,
                                     const std::vector<source_record>& after) {
  std::vector<fact_change> changes;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto* other = i > 0 ? find(after, before[i].file) : after.empty() ? nullptr : &after[0];
    if (other != nullptr) {
      compare_files(before[i], *other, changes);
    } else {
      changes.push_back({std::string(file_name(before[i].file)), {before[i].file, std::nullopt}});
    }
  }
  for (std::size_t i = 1; i < after.size(); ++i) {
    if (find(before, after[i].file) != nullptr) continue;
    changes.push_back({std::string(file_name(after[i].file)), {std::nullopt, after[i].file}});
  }
  return changes;
}

}  // namespace graphline
