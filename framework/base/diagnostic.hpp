#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/place.hpp"

namespace graphline {

enum class severity { error, warning };

/// One thing that is wrong with what the user wrote, and where.
struct diagnostic {
  graphline::severity severity = severity::error;
  graphline::place place;
  std::string message;  ///< what is wrong and what was expected, one line, no full stop

  /// "FILE:LINE:COLUMN: error: MESSAGE", then the line and a caret under the place where there is
  /// one. Tabs are kept so that the caret lines up; control characters are shown as "?"; a long
  /// line is cut around the place.
  std::string render() const;
};

/// Collects everything that is wrong, so that a user sees all of it at once.
class diagnostics {
 public:
  void add(diagnostic found);
  void error(const place& where, std::string message);
  void warning(const place& where, std::string message);

  bool has_errors() const noexcept { return errors_ > 0; }
  const std::vector<diagnostic>& all() const noexcept { return all_; }

  /// Every diagnostic rendered, in order of place within a file; at most `limit`, then a line with
  /// the count of the rest.
  std::string render(std::size_t limit = 50) const;

  /// Throws an `input_error` with everything rendered, if there is an error among it.
  void throw_if_errors() const;

 private:
  std::vector<diagnostic> all_;
  std::size_t errors_ = 0;
};

/// The candidate nearest to `word` by edits (insert, delete, replace, swap neighbors), if it is
/// near enough to be a slip; otherwise empty.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// " (did you mean 'X'?)" with the nearest candidate; where none is near, " (known: A, B, C)", or
/// nothing when the list is longer than `list_up_to`.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates,
                       std::size_t list_up_to = 12);

}  // namespace graphline
