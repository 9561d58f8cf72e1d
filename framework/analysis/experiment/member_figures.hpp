#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/analysis/experiment/resampling.hpp"

namespace graphline {

/// Everything that is compared of two configurations, in the order in which it is shown.
inline constexpr std::array all_figures = {figure::p50, figure::tail, figure::throughput};

/// Figures of a pipeline, in the order of `all_figures`, each with its draws; nothing where the
/// frames do not carry one.
using resampled_figures = std::array<std::optional<resampled_figure>, all_figures.size()>;

/// Draws from so many blocks, at least 1; none below `least_blocks`, where they would say nothing.
block_draws draws_for(std::size_t blocks, std::uint64_t seed);

/// Of all frames of all runs, one run for each block of the draws. `tail`: the percentile.
resampled_figures figures_of(const std::vector<const run_record*>& runs, double tail,
                             const block_draws& draws);

}  // namespace graphline
