#include "tools/graphline/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>

#include "framework/base/utf8.hpp"
#include "framework/report/sentences.hpp"
#include "tools/graphline/common_options.hpp"

namespace graphline {
namespace {

constexpr std::size_t narrowest = 40;
constexpr std::size_t widest = 200;

/// "auto", "always" or "never".
std::string& color_wanted() {
  static std::string wanted = "auto";
  return wanted;
}

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool has_color(std::FILE* stream) {
  if (color_wanted() != "auto") return color_wanted() == "always";
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

}  // namespace

void add_color_option(CLI::App& program) {
  program
      .add_option("--color", color_wanted(),
                  "Colors in tables: auto is on a terminal, unless NO_COLOR is set")
      ->type_name("auto|always|never")
      ->check(one_of({"auto", "always", "never"}))
      ->capture_default_str();
  program.fallthrough();  // so that it may stand behind the command too
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
    const bool told = found.key.ends_with("failed");  // with the reason, as the command's error
    if (found.how == finding_severity::note || told) continue;
    const auto* before = found.how == finding_severity::warning ? "warning: " : "";
    print(stderr, fmt::format("{}{}\n", before, printable(report::sentence(found))));
  }
}

bool is_terminal(std::FILE* stream) {
  return ::isatty(::fileno(stream)) == 1;
}

terminal_style style_of(std::FILE* stream) {
  auto width = width_in_environment();
  if (!width) width = width_of_terminal(stream);
  return {has_color(stream), std::clamp(width.value_or(80), narrowest, widest)};
}

}  // namespace graphline
