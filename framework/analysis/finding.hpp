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

enum class finding_severity {
  note,     ///< for information
  warning,  ///< a metric may be misleading
  failure,  ///< something did not run as intended
};
inline constexpr word<finding_severity> severity_words[] = {{"note", finding_severity::note},
                                                            {"warning", finding_severity::warning},
                                                            {"failure", finding_severity::failure}};
template <>
struct words_of<finding_severity> {
  static constexpr const auto& table = severity_words;
};

/// A contribution to a finding, for example one category of time.
struct finding_item {
  std::string what;     ///< "queue wait"; may be empty
  std::string subject;  ///< stage name; empty if there is no stage
  quantity amount;
  std::optional<double> part = {};  ///< fraction of the finding's total
  friend bool operator==(const finding_item&, const finding_item&) = default;
};

/// Contributions to a finding. This type is not a plain vector because of a bug in libstdc++ 12. If
/// memory runs out while a variant of only standard types is copied, libstdc++ 12 destroys an
/// object that was never constructed.
struct finding_items : std::vector<finding_item> {
  using vector::vector;
};

/// A conclusion from the data. framework/report/sentences.cpp formats it as a sentence.
struct finding {
  using figure = std::variant<quantity, std::string, std::vector<std::string>, finding_items>;

  finding(std::string_view its_key, finding_severity severity = finding_severity::note,
          std::vector<std::string> about = {});
  friend bool operator==(const finding&, const finding&) = default;

  /// Adds a metric. Adds nothing if the optional is empty.
  finding& with(std::string_view name, figure value);
  finding& with(std::string_view name, const std::optional<double>& value, unit in);
  finding& with(std::string_view name, std::integral auto count) {
    return with(name, quantity{static_cast<double>(count), unit::none});
  }

  const figure* find(std::string_view name) const;

  std::string_view key;  ///< string literal, such as "far_from_roofline"
  finding_severity how;
  /// Names of stages and parts, or labels of configurations.
  std::vector<std::string> subjects;
  std::vector<std::pair<std::string_view, figure>> figures;
  std::vector<finding> cases;  ///< individual cases with their own metrics
};

/// Adds a run's recorded warnings as findings.
void add_warnings(std::vector<finding>& to, const std::vector<std::string>& written);

}  // namespace graphline
