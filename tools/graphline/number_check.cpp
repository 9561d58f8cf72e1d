#include "tools/graphline/number_check.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

#include "framework/base/utf8.hpp"

namespace graphline {
namespace {

template <class T>
CLI::Validator in_range(std::string_view what, T least, T most) {
  const auto check = [what, least, most](const std::string& text) -> std::string {
    T value{};
    const char* const past = text.data() + text.size();
    const auto [end, status] = std::from_chars(text.data(), past, value);
    const bool read = status == std::errc() && end == past;
    if (read && value >= least && value <= most) return {};
    return fmt::format("must be {} from {} to {}, found {}", what, least, most, quote(text));
  };
  return {check, ""};
}

}  // namespace

CLI::Validator whole_number_from(std::int64_t least, std::int64_t most) {
  return in_range("a whole number", least, most);
}

CLI::Validator number_from(double least, double most) {
  return in_range("a number", least, most);
}

}  // namespace graphline
