#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/place.hpp"

namespace graphline {

enum class severity { error, warning };

/// An error or a warning about user input, with its place.
struct diagnostic {
  graphline::severity severity = severity::error;
  graphline::place place;
  std::string message;  ///< what is wrong and what is expected: one line without a final period

  /// Returns "FILE:LINE:COLUMN: error: MESSAGE", then the source line with a caret under the place.
  /// Keeps tabs so that the caret lines up, shows control characters as "?" and cuts long lines.
  std::string render() const;
};

/// Collects diagnostics, so that a user sees all of them at once.
class diagnostics {
 public:
  void add(diagnostic found);
  void error(const place& where, std::string message);
  void warning(const place& where, std::string message);

  bool has_errors() const noexcept { return errors_ > 0; }
  const std::vector<diagnostic>& all() const noexcept { return all_; }

  /// Renders up to `limit` diagnostics, sorted by file and place, and the number of the others.
  std::string render(std::size_t limit = 50) const;

  /// @throws input_error with the text of `render()` if there is an error
  void throw_if_errors() const;

 private:
  std::vector<diagnostic> all_;
  std::size_t errors_ = 0;
};

/// Returns the candidate with the fewest edits (inserted, deleted, replaced and swapped letters)
/// from `word`. Empty if no candidate is close enough for a typo.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// Returns " (did you mean 'X'?)" with the nearest candidate. If none is near, returns " (known: A,
/// B, C)", or an empty text for more than `list_up_to` candidates.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates,
                       std::size_t list_up_to = 12);

}  // namespace graphline
