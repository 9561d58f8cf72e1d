#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/analysis/stats/distribution.hpp"

namespace graphline {

/// Returns a time in milliseconds; null if unknown.
nlohmann::ordered_json ms_or_null(const std::optional<double>& ns);

/// Returns a distribution in milliseconds, in the form of `graphline.run/1`. A percentile is null
/// if it needs more frames; "needs" contains their number.
nlohmann::ordered_json distribution_json(const std::optional<distribution>& times);

nlohmann::ordered_json texts_json(const std::vector<std::pair<std::string, std::string>>& pairs);

}  // namespace graphline
