#pragma once

#include <optional>
#include <span>

namespace graphline {

/// Returns Kendall's tau-b of two series of equal length, from -1 (opposite orders) to 1 (the same
/// order), which accounts for ties (Kendall, "Rank Correlation Methods", 1975). Empty if a series
/// has no two different values. Takes quadratic time.
std::optional<double> kendall_tau(std::span<const double> a, std::span<const double> b);

}  // namespace graphline
