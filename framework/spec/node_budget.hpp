#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "framework/spec/node.hpp"

namespace graphline {

/// Limits the number and size of a file's values after aliases and `$name` are expanded.
class node_budget {
 public:
  static constexpr std::size_t most_values = 100'000;
  static constexpr std::size_t most_text = std::size_t{32} << 20;  ///< bytes of scalars

  /// Counts a value. Returns false if the budget is exceeded.
  bool take(std::size_t text_bytes) noexcept {
    ++values_;
    text_ += text_bytes;
    return values_ <= most_values && text_ <= most_text;
  }

  /// Counts a value and all values within it. Returns false if the budget is exceeded.
  bool take_all(const node& n) noexcept;

 private:
  std::size_t values_ = 0;
  std::size_t text_ = 0;
};

/// Returns the message for a file beyond the budget. `repeating` is "aliases" or "parameters".
std::string beyond_budget(std::string_view repeating);

}  // namespace graphline
