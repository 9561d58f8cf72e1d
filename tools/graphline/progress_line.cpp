#include "tools/graphline/progress_line.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "framework/report/render/text_table.hpp"
#include "tools/graphline/terminal.hpp"

namespace graphline {

namespace {

/// A line that wraps could not be drawn over: what is left is omitted first, then the activity is
/// cut.
std::string progress_text(std::string_view activity, const std::string& count,
                          const std::string& rest, std::size_t width) {
  const auto whole = fmt::format("{}  {}{}", activity, count, rest);
  if (text_width(whole) <= width) return whole;
  constexpr std::size_t least_activity = 8;
  const auto room = width - std::min(width, text_width(count) + 2);
  if (room < least_activity) return table_name(count, width);
  return fmt::format("{}  {}", table_name(activity, room), count);
}

}  // namespace

progress_line::progress_line(bool quiet)
    : shown_(!quiet && is_terminal(stderr)), started_(now()), begun_(started_) {}

void progress_line::show(std::string_view activity, std::int64_t done, std::int64_t total,
                         std::string_view what, std::optional<nanoseconds> left) {
  const nanoseconds time = now();
  if (done < done_) begun_ = time;
  done_ = done;
  if (!shown_ || time - started_ < 2'000'000'000) return;
  if (!left && done > 0) {
    left = static_cast<nanoseconds>(static_cast<double>(time - begun_) *
                                    static_cast<double>(total - done) / static_cast<double>(done));
  }
  const auto rest =
      left ? fmt::format(", about {:.0f} s left", static_cast<double>(*left) * 1e-9) : "";
  const auto line = progress_text(activity, fmt::format("{} of {} {}", done, total, what), rest,
                                  style_of(stderr).width - 1);
  // Not fmt::print, which throws where the terminal has gone.
  std::fputs(fmt::format("\r{}\x1b[K", line).c_str(), stderr);
  std::fflush(stderr);
  drawn_ = true;
}

void progress_line::erase() {
  if (!drawn_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace graphline
