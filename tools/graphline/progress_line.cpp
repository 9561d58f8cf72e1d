#include "tools/graphline/progress_line.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "framework/base/units.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/render/text_table.hpp"
#include "tools/graphline/terminal.hpp"

namespace graphline {

redrawn_line::redrawn_line() : terminal_(is_terminal(stderr)) {}

void redrawn_line::draw(std::string_view text) {
  if (!terminal_) return;
  // A line that wraps could not be drawn over.
  const auto shown = table_name(text, style_of(stderr).width - 1);
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

namespace {

constexpr nanoseconds between_lines = 2'000'000'000;

}  // namespace

void watch_line::take_in(const progress& at, nanoseconds time) {
  if (at.latest.empty()) return;
  for (const auto duration : at.latest) times_.add(duration);
  if (first_ == 0) {
    first_ = time;
    at_first_ = times_.count();
  }
  last_ = time;
}

std::string watch_line::percentiles() const {
  // By the median: one slow frame would leave the others no digits.
  const auto usual = times_.percentile(0.5);
  const auto unit = unit_for(static_cast<double>(usual.value_or(*times_.max())));
  std::string text;
  const auto add = [&](std::string_view name, const std::optional<nanoseconds>& ns) {
    const auto value = ns ? std::optional(static_cast<double>(*ns)) : std::nullopt;
    text += fmt::format("{} {} ", name, in_unit(value, unit));
  };
  add("p50", usual);
  add("p90", times_.percentile(0.9));
  add("p99", times_.percentile(0.99));
  add("max", times_.max());
  return text + std::string(unit.name);
}

/// As much of it as there is room for, the most important first.
std::string watch_line::text(const progress& at, std::size_t width) const {
  if (at.warmup) return fmt::format("warming up, {} of {} frames", at.done, at.total);
  auto line = fmt::format("{} of {} frames", at.done, at.total);
  const auto add = [&](const std::string& part) {
    if (text_width(line) + 2 + text_width(part) <= width) line += "  " + part;
  };
  if (times_.count() == 0) return line;
  add(percentiles());
  if (last_ > first_) {
    const auto frames = static_cast<double>(times_.count() - at_first_);
    add(fmt::format("{}/s", three_digits(frames * 1e9 / static_cast<double>(last_ - first_))));
  }
  return line;
}

void watch_line::show(const progress& at) {
  const auto time = now();
  take_in(at, time);
  if (line_.on_terminal()) {
    line_.draw(text(at, style_of(stderr).width - 1));
    return;
  }
  if (written_ == 0) written_ = time;  // the first line after as long as those that follow
  if (at.warmup || time - written_ < between_lines) return;
  written_ = time;
  print(stderr, text(at, style_of(stderr).width) + "\n");
  std::fflush(stderr);
}

}  // namespace graphline
