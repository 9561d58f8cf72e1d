#include "framework/report/document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace graphline::report {

std::string shown_value(const cell& of) {
  struct {
    std::string operator()(std::monostate) const { return "-"; }
    std::string operator()(bool yes) const { return yes ? "yes" : "no"; }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const quantity& number) const { return to_text(number); }
    std::string operator()(const std::vector<std::string>& list) const {
      return fmt::format("{}", fmt::join(list, "; "));
    }
    std::string operator()(const raw_times& times) const { return std::to_string(times.size()); }
    std::string operator()(const std::vector<named_value>& list) const {
      std::string text;
      for (const auto& one : list) {
        text += fmt::format("{}{}={}", text.empty() ? "" : ", ", one.key, shown_value(cell(one)));
      }
      return text;
    }
  } text;
  return std::visit(text, of.value);
}

bool is_in(place where, const document::part& part) {
  return std::visit(
      [where](const auto& some) {
        if constexpr (requires { some.where; }) return (some.where & where) != 0;
        return (shown & where) != 0;
      },
      part);
}

}  // namespace graphline::report
