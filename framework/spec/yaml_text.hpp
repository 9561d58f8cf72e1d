#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "framework/base/diagnostic.hpp"
#include "framework/base/place.hpp"

namespace graphline {

// What can be said of the text of a YAML file without its structure.

/// Why a text that parses cannot be used all the same.
struct unreadable_yaml {
  graphline::place where;
  std::string message;
};

/// What keeps a text from being YAML before its structure is looked at: bytes that are not UTF-8,
/// or control characters (YAML 1.2, section 5.1). Nothing if it is fine.
std::optional<diagnostic> find_unreadable(const std::shared_ptr<const source_text>& source);

/// The byte of the first character that looks like a space or like nothing; npos for none.
std::size_t find_lookalike(std::string_view text);

/// Names the lookalike of a space at byte `at` of a line.
unreadable_yaml lookalike_at(const std::shared_ptr<const source_text>& source, std::size_t line,
                             std::size_t at);

// The parser stumbles over these somewhere behind them; each looks at the line where it did and the
// two above, the last at all above.

/// The first lookalike of a space, not in comments.
std::optional<unreadable_yaml> lookalike_near(const std::shared_ptr<const source_text>& source,
                                              std::size_t line);

/// A tab that indents.
std::optional<place> tab_near(const std::shared_ptr<const source_text>& source, std::size_t line);

/// The line above one that begins with a key as well, of the same indentation, if it has no ':': it
/// and the key below were taken for one text.
std::optional<place> missing_colon_above(const std::shared_ptr<const source_text>& source,
                                         std::size_t line);

}  // namespace graphline
