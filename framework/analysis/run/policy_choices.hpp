#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "framework/analysis/finding.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Returns the stage that would have started in a pass instead of `stage` without the policy: its
/// index plus 1; 0 if that was this stage, or a value of `choice`.
inline std::int32_t preferred_in(const stage_record& stage, std::size_t pass) {
  return pass < stage.preferred.size() ? stage.preferred[pass] : 0;
}

/// Returns how many starts differ from the oldest-frame order, which stages changed places most
/// often, and how many of the starts had been held back. Empty if the runs do not record choices of
/// a policy.
/// @param runs Of one pipeline with the same settings.
std::optional<finding> policy_finding(std::span<const run_record* const> runs);

}  // namespace graphline
