#include "tools/graphline/progress_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "framework/base/units.hpp"

namespace graphline {

progress_line::progress_line() : terminal_(::isatty(STDERR_FILENO) == 1), started_(now()) {}

void progress_line::show(std::string_view activity, std::int64_t done, std::int64_t total,
                         std::string_view what, std::optional<nanoseconds> left) {
  const nanoseconds elapsed = now() - started_;
  if (!terminal_ || elapsed < 2'000'000'000) return;
  if (!left && done > 0) {
    left = static_cast<nanoseconds>(static_cast<double>(elapsed) *
                                    static_cast<double>(total - done) / static_cast<double>(done));
  }
  const auto rest =
      left ? fmt::format(", about {:.0f} s left", static_cast<double>(*left) * 1e-9) : "";
  fmt::print(stderr, "\r{}  {} of {} {}{}\x1b[K", activity, done, total, what, rest);
  std::fflush(stderr);
  drawn_ = true;
}

void progress_line::erase() {
  if (!drawn_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace graphline
