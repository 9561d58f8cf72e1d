#include "framework/report/document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace graphline::report {

std::string interval_text(const estimate& of) {
  const auto text = [&of](double value) { return to_text({value, of.value.in}); };
  if (!of.low && !of.high) return "no 95 % interval";
  if (!of.high) return fmt::format("95 % interval from {}", text(*of.low));
  if (!of.low) return fmt::format("95 % interval up to {}", text(*of.high));
  auto low = text(*of.low);
  const auto high = text(*of.high);
  const auto unit = low.substr(std::min(low.find(' '), low.size()));
  if (high.ends_with(unit)) low.resize(low.size() - unit.size());  // writes the unit once
  return fmt::format("95 % interval {} to {}", low, high);
}

cell::cell(const named_value& of) {
  std::visit([this](const auto& some) { value = some; }, of.value);
}

sampled samples_of(const std::optional<distribution>& times) {
  return {times ? std::make_shared<const distribution>(*times) : nullptr};
}

std::optional<quantity> cell::number() const {
  if (const auto* alone = std::get_if<quantity>(&value)) return *alone;
  if (const auto* with_interval = std::get_if<estimate>(&value)) return with_interval->value;
  return std::nullopt;
}

std::string shown_value(const cell& of) {
  struct {
    std::string operator()(std::monostate) const { return "-"; }
    std::string operator()(bool yes) const { return yes ? "yes" : "no"; }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const quantity& number) const { return to_text(number); }
    std::string operator()(const estimate& some) const {
      return fmt::format("{} ({})", to_text(some.value), interval_text(some));
    }
    std::string operator()(const span_of& some) const {
      const auto end = [&](const std::optional<double>& value) {
        return value ? to_text({*value, some.in}) : "?";
      };
      if (!some.low && !some.high) return "-";
      return fmt::format("{} to {}", end(some.low), end(some.high));
    }
    std::string operator()(const judgment& some) const { return some.word; }
    std::string operator()(const sampled& some) const {
      return some.of ? fmt::format("{} values", some.of->count()) : "-";
    }
    std::string operator()(const std::vector<std::string>& list) const {
      return fmt::format("{}", fmt::join(list, "; "));
    }
    std::string operator()(const whole_numbers& list) const { return std::to_string(list.size()); }
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
        if constexpr (requires { some.rows; }) {
          const bool any = std::ranges::any_of(
              some.rows, [&](const row& one) { return (one.where & where) != 0; });
          if (!any) return (some.where & where & in_data) != 0;
        }
        if constexpr (requires { some.where; }) return (some.where & where) != 0;
        return (shown & where) != 0;
      },
      part);
}

}  // namespace graphline::report
