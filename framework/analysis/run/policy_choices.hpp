#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "framework/analysis/finding.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Returns the stage that would have started in a pass instead of `stage` without the policy: its
/// index plus 1; 0 if that was this stage, -1 if it was of another pipeline.
inline std::int32_t preferred_in(const stage_record& stage, std::size_t pass) {
  return pass < stage.preferred.size() ? stage.preferred[pass] : 0;
}

/// Returns how many starts a policy decided otherwise than the oldest-frame order, and which stages
/// changed places most often. Empty if the runs do not tell.
/// @param runs Of one pipeline with the same settings.
std::optional<finding> policy_finding(std::span<const run_record* const> runs);

}  // namespace graphline
