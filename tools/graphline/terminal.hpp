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

/// Adds --color to all commands.
void add_color_option(CLI::App& program);

/// Prints text for people. Names come from untrusted files, so control characters and invalid UTF-8
/// become "?". Allocates nothing and never throws; `std::ferror` reports a failed write.
void print(std::FILE* stream, std::string_view text) noexcept;

/// Prints failures and warnings to standard error, one per line. Use it if no table shows them.
void print_findings(const std::vector<finding>& findings);

/// Prints an error to standard error. "error: " comes first, except before diagnostics, which
/// contain it. Allocates nothing.
void print_error(std::string_view message) noexcept;

/// Prints the message of a failed run, if any, to standard error.
void print_failure(const std::optional<std::string>& failure);

/// Prints warnings to standard error.
void print_warnings(const std::vector<std::string>& warnings);

/// Returns the style for a stream. `--color auto` means colors on a terminal, if NO_COLOR is empty
/// or unset and TERM is neither missing nor "dumb". The width is COLUMNS, else that of the
/// terminal, else 80, limited to 40 to 200.
terminal_style style_of(std::FILE* stream);

/// Shows the progress of a run in a line on standard error. The line appears only on a terminal,
/// two seconds after construction. It is redrawn in place and erased at the end.
class progress_line {
 public:
  explicit progress_line(bool quiet = false);
  ~progress_line() { erase(); }
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  /// Shows "measuring  12 of 45 frames, about 3 s left". Estimates `left` if it is empty.
  void show(std::string_view activity, std::int64_t done, std::int64_t total, std::string_view what,
            std::optional<nanoseconds> left = {});
  void erase();

 private:
  bool enabled_;
  bool drawn_ = false;
  nanoseconds constructed_;
  nanoseconds started_;  ///< time of the last reset of `done_`
  std::int64_t done_ = 0;
};

/// Prints a line to standard error. Erases the progress line first.
void print_over_progress(std::string_view line);

}  // namespace graphline
