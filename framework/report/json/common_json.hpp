#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/analysis/stats/distribution.hpp"

namespace graphline {

// The parts that result files have in common.

/// A time in milliseconds; null for what is not known.
nlohmann::ordered_json ms_or_null(const std::optional<double>& ns);

/// A distribution in milliseconds as in `graphline.run/1`: what the sample does not carry is null,
/// and "needs" tells for each such percentile how many frames it takes.
nlohmann::ordered_json distribution_json(const std::optional<distribution>& times);

/// Pairs of names and texts as an object of strings.
nlohmann::ordered_json texts_json(const std::vector<std::pair<std::string, std::string>>& pairs);

}  // namespace graphline
