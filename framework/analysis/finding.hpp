#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "framework/base/units.hpp"
#include "framework/base/words.hpp"

namespace graphline {

/// What a finding is to a reader.
enum class finding_severity {
  note,     ///< worth knowing
  warning,  ///< a figure may not be what it seems
  failure,  ///< something did not run as it should have
};
inline constexpr word<finding_severity> severity_words[] = {{"note", finding_severity::note},
                                                            {"warning", finding_severity::warning},
                                                            {"failure", finding_severity::failure}};
template <>
struct words_of<finding_severity> {
  static constexpr const auto& table = severity_words;
};

/// One of several pieces that make up what a finding is about.
struct finding_item {
  std::string what;     ///< "queue wait"; may be empty
  std::string subject;  ///< a stage; empty for none
  quantity amount;
  std::optional<double> part = {};  ///< of the whole, as a part of 1
  friend bool operator==(const finding_item&, const finding_item&) = default;
};

/// Those pieces. A type of its own for the sake of libstdc++ 12: it takes a variant of standard
/// types alone for one that holds a value at all times, and where memory runs out while one is
/// copied, it destroys what was never made.
struct finding_items : std::vector<finding_item> {
  using vector::vector;
};

/// Something the data show, as data: a report makes the sentence of it (sentences.cpp).
struct finding {
  using figure = std::variant<quantity, std::string, std::vector<std::string>, finding_items>;

  finding(std::string_view its_key, finding_severity severity = finding_severity::note,
          std::vector<std::string> about = {});
  friend bool operator==(const finding&, const finding&);

  /// A figure that is not known is left out.
  finding& with(std::string_view name, figure value);
  finding& with(std::string_view name, const std::optional<double>& value, unit in);
  finding& with(std::string_view name, std::integral auto count) {
    return with(name, quantity{static_cast<double>(count), unit::none});
  }

  const figure* find(std::string_view name) const;

  std::string_view key;  ///< a literal: "far_from_roofline"
  finding_severity how;
  /// Names of stages and parts, or of configurations, as the user wrote them.
  std::vector<std::string> subjects;
  std::vector<std::pair<std::string_view, figure>> figures;
  std::vector<finding> cases;  ///< where it shows, each with figures of its own
};

/// Adds the warnings that a run wrote down, in its own words.
void add_warnings(std::vector<finding>& to, const std::vector<std::string>& written);

}  // namespace graphline
