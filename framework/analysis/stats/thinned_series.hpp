#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "framework/base/clock.hpp"

namespace graphline {

// What a picture of very many values draws. Nothing is computed from it: figures come from all.

/// Which values to draw so that every spike still shows: ascending indices, the first and the last
/// among them, and of each of equal stretches the smallest and the largest. All of them where there
/// are no more than `most`, which is at least 4; else at most that many.
std::vector<std::size_t> thinned_series(std::span<const nanoseconds> values, std::size_t most);

/// `most` or fewer of the indices below `count`, evenly spread, the first and the last among them.
std::vector<std::size_t> evenly_spread(std::size_t count, std::size_t most);

}  // namespace graphline
