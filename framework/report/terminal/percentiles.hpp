#pragma once

#include <string_view>
#include <utility>

namespace graphline {

/// The percentiles every report shows, by the name it shows them under.
inline constexpr std::pair<std::string_view, double> shown_percentiles[] = {
    {"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}};

}  // namespace graphline
