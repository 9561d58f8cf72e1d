#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "framework/spec/node.hpp"

namespace graphline {

/// Bounds what a file of any size becomes: its values with all that aliases and `$name` repeat.
class node_budget {
 public:
  static constexpr std::size_t most_values = 100'000;
  static constexpr std::size_t most_text = std::size_t{32} << 20;  ///< bytes of scalars

  /// Counts one more value with a text of so many bytes. False beyond the budget.
  bool take(std::size_t text_bytes) noexcept {
    ++values_;
    text_ += text_bytes;
    return values_ <= most_values && text_ <= most_text;
  }

  /// Counts a value with all that it holds. False beyond the budget.
  bool take_all(const node& n) noexcept;

 private:
  std::size_t values_ = 0;
  std::size_t text_ = 0;
};

/// What a file is told that is beyond it; `repeating`: "aliases" or "parameters".
std::string beyond_budget(std::string_view repeating);

}  // namespace graphline
