#pragma once

#include <cstdint>

#include "framework/record/experiment_record.hpp"

namespace graphline::samples {

/// A trial whose every member is drawn from the seed within what a reader takes: names with quotes,
/// line breaks and other scripts, numbers of every magnitude, columns that are filled or not.
/// `members` pipelines of `frames` frames.
trial_record random_trial(std::uint64_t seed, std::size_t members, std::size_t frames);

/// Fails the test where two trials differ as they are written, which is without loss.
void expect_same(const trial_record& a, const trial_record& b);

}  // namespace graphline::samples
