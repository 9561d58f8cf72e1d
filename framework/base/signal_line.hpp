#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "framework/base/stage_activity.hpp"

namespace graphline {

/// Composes a line for standard error, cut to the buffer's size. Async-signal-safe.
class signal_line {
 public:
  void add(std::string_view text) noexcept {
    const std::size_t bytes = std::min(text.size(), sizeof text_ - used_);
    std::memcpy(text_ + used_, text.data(), bytes);
    used_ += bytes;
  }
  void add(std::int64_t number) noexcept {  // must not be negative
    char digits[20];
    std::size_t begin = sizeof digits;
    do {
      digits[--begin] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number > 0);
    add({digits + begin, sizeof digits - begin});
  }
  /// Adds the same text as `to_string`.
  void add(const stage_label& label) noexcept {
    add("stage '");
    add(label.stage);
    add("' (");
    add(label.kind);
    if (!label.plugin.empty()) {
      add(" of plug-in ");
      add(label.plugin);
    }
    add(")");
  }
  void print() const noexcept {
    if (::write(STDERR_FILENO, text_, used_) < 0) return;  // the failure cannot be reported
  }

 private:
  char text_[1024];
  std::size_t used_ = 0;
};

}  // namespace graphline
