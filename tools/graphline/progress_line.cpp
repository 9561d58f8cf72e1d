#include "tools/graphline/progress_line.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "framework/base/utf8.hpp"
#include "framework/report/terminal/text_table.hpp"
#include "tools/graphline/terminal_look.hpp"

namespace graphline {

redrawn_line::redrawn_line() : terminal_(is_terminal(stderr)) {}

void redrawn_line::draw(std::string_view text) {
  if (!terminal_) return;
  // A line that wraps could not be drawn over.
  const auto shown = table_name(text, look_of(stderr).width - 1);
  // Not fmt::print, which throws where the terminal has gone.
  std::fputs(fmt::format("\r{}\x1b[K", shown).c_str(), stderr);
  std::fflush(stderr);
  drawn_ = true;
}

void redrawn_line::erase() {
  if (!drawn_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

void progress_line::show(std::string_view activity, std::int64_t done, std::int64_t total,
                         std::string_view what, std::optional<nanoseconds> left) {
  const nanoseconds elapsed = now() - started_;
  if (quiet_ || !line_.on_terminal() || elapsed < 2'000'000'000) return;
  if (!left && done > 0) {
    left = static_cast<nanoseconds>(static_cast<double>(elapsed) *
                                    static_cast<double>(total - done) / static_cast<double>(done));
  }
  const auto rest =
      left ? fmt::format(", about {:.0f} s left", static_cast<double>(*left) * 1e-9) : "";
  line_.draw(fmt::format("{}  {} of {} {}{}", activity, done, total, what, rest));
}

}  // namespace graphline
