#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/analysis/stats/distribution.hpp"

namespace graphline {

// Common parts of result files.

/// A time in milliseconds; null if unknown.
nlohmann::ordered_json ms_or_null(const std::optional<double>& ns);

/// A distribution in milliseconds as in `graphline.run/1`. Percentiles that need more frames are
/// null; "needs" holds how many they need.
nlohmann::ordered_json distribution_json(const std::optional<distribution>& times);

/// Pairs of names and texts as an object of strings.
nlohmann::ordered_json texts_json(const std::vector<std::pair<std::string, std::string>>& pairs);

}  // namespace graphline
