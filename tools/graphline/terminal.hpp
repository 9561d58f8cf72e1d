#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/analysis/finding.hpp"
#include "framework/base/clock.hpp"
#include "framework/report/render/terminal_style.hpp"

namespace CLI {
class App;
}

namespace graphline {

/// Adds --color, an option of all commands.
void add_color_option(CLI::App& program);

/// Prints text; use it for all output that people read. Control characters and bytes that are not
/// UTF-8 become "?", because names come from untrusted files. Allocates nothing and never throws;
/// `std::ferror` reports a failed write.
void print(std::FILE* stream, std::string_view text) noexcept;

/// Prints failures and warnings to standard error, one per line, if no table shows them.
void print_findings(const std::vector<finding>& findings);

/// Prints the message that ended a run, if there is one, to standard error.
void print_failure(const std::optional<std::string>& failure);

/// Returns the style for a stream:
/// - color: as --color says; if that is `auto`, color on a terminal, unless NO_COLOR is set and not
///   empty or TERM is missing or "dumb"
/// - width: COLUMNS, else the terminal's, else 80; between 40 and 200
terminal_style style_of(std::FILE* stream);

/// Shows the progress of a run in a line on standard error. The line is redrawn in place and erased
/// at the end. It appears only on a terminal, two seconds after construction.
class progress_line {
 public:
  /// With `quiet`, shows nothing.
  explicit progress_line(bool quiet = false);
  ~progress_line() { erase(); }
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  /// Shows "measuring  12 of 45 frames, about 3 s left". If `left` is empty, estimates it.
  void show(std::string_view activity, std::int64_t done, std::int64_t total, std::string_view what,
            std::optional<nanoseconds> left = {});
  void erase();

 private:
  bool enabled_;
  bool drawn_ = false;
  nanoseconds constructed_;
  nanoseconds started_;  ///< time at which `done_` was last reset
  std::int64_t done_ = 0;
};

/// Prints a line to standard error, in place of the progress line if one is shown.
void print_over_progress(std::string_view line);

}  // namespace graphline
