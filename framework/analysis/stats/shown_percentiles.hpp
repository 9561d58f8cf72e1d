#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "framework/analysis/stats/distribution.hpp"

namespace graphline {

/// The percentiles of every report, by the name it shows them under.
inline constexpr std::pair<std::string_view, double> shown_percentiles[] = {
    {"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p99.9", 0.999}};

/// Those that a table of a sample has: the last, which takes thousands of frames, only where it is
/// carried.
std::span<const std::pair<std::string_view, double>> percentiles_of_table(const distribution& of);

/// Why a table has no value for some of these: "too few frames: p95 needs 59, p99 needs 299", or
/// why the sample is unsettled. Empty where all have one.
std::string why_absent(const distribution& of);

}  // namespace graphline
