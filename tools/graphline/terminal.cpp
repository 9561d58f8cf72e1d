#include "tools/graphline/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "framework/base/utf8.hpp"
#include "framework/report/render/text_table.hpp"
#include "framework/report/sentences.hpp"
#include "tools/graphline/common_options.hpp"

namespace graphline {
namespace {

constexpr std::size_t narrowest = 40;
constexpr std::size_t widest = 200;
constexpr const char* erase_line = "\r\x1b[K";

/// The value of --color: "auto", "always" or "never".
std::string& color_option() {
  static std::string option = "auto";
  return option;
}

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_terminal(std::FILE* stream) {
  return ::isatty(::fileno(stream)) == 1;
}

bool has_color(std::FILE* stream) {
  if (color_option() != "auto") return color_option() == "always";
  const auto term = variable("TERM");
  return is_terminal(stream) && variable("NO_COLOR").empty() && !term.empty() && term != "dumb";
}

std::optional<std::size_t> width_in_environment() {
  const auto text = variable("COLUMNS");
  std::size_t columns = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), columns);
  const bool whole = end == text.data() + text.size();
  return problem == std::errc() && whole && columns > 0 ? std::optional(columns) : std::nullopt;
}

std::optional<std::size_t> width_of_terminal(std::FILE* stream) {
  winsize size{};
  if (!is_terminal(stream) || ::ioctl(::fileno(stream), TIOCGWINSZ, &size) != 0) return {};
  return size.ws_col > 0 ? std::optional<std::size_t>(size.ws_col) : std::nullopt;
}

/// Fits the line into `width`, because a wrapped line cannot be redrawn. Omits `rest` first, then
/// truncates the activity.
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

void add_color_option(CLI::App& program) {
  program
      .add_option("--color", color_option(),
                  "Colors in tables; auto: on a terminal, unless NO_COLOR is set")
      ->type_name("auto|always|never")
      ->check(one_of({"auto", "always", "never"}))
      ->capture_default_str();
  program.fallthrough();
}

void print(std::FILE* stream, std::string_view text) noexcept {
  const bool colors = has_color(stream);
  while (!text.empty()) {
    const auto shown = shown_bytes(text, colors);
    std::fwrite(text.data(), 1, shown, stream);
    text.remove_prefix(shown);
    if (text.empty()) return;
    std::fputc('?', stream);
    text.remove_prefix(utf8_at(text, 0).bytes);
  }
}

void print_findings(const std::vector<finding>& findings) {
  for (const auto& found : findings) {
    // The command's error message already reports the failure and its reason.
    const bool reported = found.key.ends_with("failed");
    if (found.how == finding_severity::note || reported) continue;
    const auto* prefix = found.how == finding_severity::warning ? "warning: " : "";
    print(stderr, fmt::format("{}{}\n", prefix, printable(report::sentence(found))));
  }
}

void print_error(std::string_view message) noexcept {
  const bool rendered = message.starts_with("error: ") || message.find(": error: ") != message.npos;
  if (!rendered) print(stderr, "error: ");
  print(stderr, message);
  print(stderr, "\n");
}

void print_failure(const std::optional<std::string>& failure) {
  if (failure) print(stderr, fmt::format("error: {}\n", printable(*failure)));
}

void print_warnings(const std::vector<std::string>& warnings) {
  for (const auto& warning : warnings) {
    print(stderr, fmt::format("warning: {}\n", printable(warning)));
  }
}

terminal_style style_of(std::FILE* stream) {
  auto width = width_in_environment();
  if (!width) width = width_of_terminal(stream);
  return {has_color(stream), std::clamp(width.value_or(80), narrowest, widest)};
}

progress_line::progress_line(bool quiet)
    : enabled_(!quiet && is_terminal(stderr)), constructed_(now()), started_(constructed_) {}

void progress_line::show(std::string_view activity, std::int64_t done, std::int64_t total,
                         std::string_view what, std::optional<nanoseconds> left) {
  const nanoseconds time = now();
  if (done < done_) started_ = time;
  done_ = done;
  if (!enabled_ || time - constructed_ < 2'000'000'000) return;
  if (!left && done > 0) {
    left = static_cast<nanoseconds>(static_cast<double>(time - started_) *
                                    static_cast<double>(total - done) / static_cast<double>(done));
  }
  const auto rest =
      left ? fmt::format(", about {:.0f} s left", static_cast<double>(*left) * 1e-9) : "";
  const auto line = progress_text(activity, fmt::format("{} of {} {}", done, total, what), rest,
                                  style_of(stderr).width - 1);
  // fmt::print would throw if the terminal is gone.
  std::fputs(fmt::format("\r{}\x1b[K", line).c_str(), stderr);
  std::fflush(stderr);
  drawn_ = true;
}

void progress_line::erase() {
  if (!drawn_) return;
  std::fputs(erase_line, stderr);
  std::fflush(stderr);
  drawn_ = false;
}

void print_over_progress(std::string_view line) {
  if (is_terminal(stderr)) std::fputs(erase_line, stderr);
  print(stderr, line);
}

}  // namespace graphline
