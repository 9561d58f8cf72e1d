#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/diagnostic.hpp"

namespace graphline {
namespace {

/// ASCII letters in lower case, and "-" as "_": differences that are never meant.
std::string folded(std::string_view word) {
  std::string result(word);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-') c = '_';
  }
  return result;
}

/// Edits from `a` to `b`: Damerau's and Levenshtein's distance in its restricted form, in which no
/// part of a word is edited twice. Three rows of the table are kept.
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
    // A third of the letters may be wrong, but no more than three. Words of three letters or fewer
    // are too near to each other for that: "gpu" is no slip for "cpu".
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
  std::string list = " (known: ";
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (i > 0) list += ", ";
    list += candidates[i];
  }
  return list + ")";
}

}  // namespace graphline
