#pragma once

#include <random>

#include "framework/record/run_record.hpp"

namespace graphline::samples {

/// A record of no frames yet: settings and stages as chance has them, each with what it waits for.
/// Two to ten stages on both sides, with copies, on up to three streams.
run_record drawn_pipeline(std::mt19937_64& generator);

}  // namespace graphline::samples
