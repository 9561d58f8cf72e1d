#include <fmt/format.h>

#include "framework/analysis/experiment/comparison_text.hpp"
#include "framework/report/html/experiment_data_parts.hpp"
#include "framework/report/terminal/experiment_cells.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

json range_data(const std::optional<interval>& range) {
  return range ? json({range->low, range->high}) : json();
}

/// The texts of a comparison of times in `unit`, or of frames a second.
json cells_of(const comparison& found, time_unit unit, int decimals) {
  const bool time = found.figure != figure::throughput;
  const double size = time ? unit.nanoseconds : 1;
  const auto change = [&](double ratio) { return percent_change(ratio, decimals); };
  const auto amount = [&](double value) { return signed_digits(value / size, 3); };
  const auto to = [](const std::string& low, const std::string& high) {
    return fmt::format("{} to {}", low, high);
  };
  const auto& ratios = found.ratio_range;
  const auto& differences = found.difference_range;
  return {{"value", three_digits(found.value / size, 3)},
          {"reference", three_digits(found.reference / size, 3)},
          {"change", change(found.ratio) + " %"},
          {"interval", ratios ? to(change(ratios->low), change(ratios->high)) : "-"},
          {"difference", amount(found.difference)},
          {"difference_interval",
           differences ? to(amount(differences->low), amount(differences->high)) : "-"}};
}

}  // namespace

json comparison_data(const experiment_source& from) {
  const int decimals = change_decimals(from.summary);
  json list = json::array();
  for (const auto& found : from.summary.comparisons) {
    list.push_back({{"pair", {from.place_of(found.pair.what), from.place_of(found.pair.reference)}},
                    {"figure", to_word(found.figure)},
                    {"value", found.value},
                    {"reference", found.reference},
                    {"difference", found.difference},
                    {"difference_range", range_data(found.difference_range)},
                    {"ratio", found.ratio},
                    {"ratio_range", range_data(found.ratio_range)},
                    {"verdict", to_word(found.verdict)},
                    {"more", or_null(more_to_decide(&found))},
                    {"cells", cells_of(found, from.unit, decimals)}});
  }
  return list;
}

}  // namespace graphline
