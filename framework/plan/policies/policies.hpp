#pragma once

#include <string_view>
#include <vector>

#include "framework/stage/policy.hpp"

namespace graphline {

/// The policy of runs that name none: the oldest frame first, in planned order. It has no object,
/// because it is the order of equal ranks.
inline constexpr std::string_view default_policy = "oldest_frame";

/// Returns the built-in policies in the order of their documentation.
const std::vector<policy_kind>& builtin_policies();

}  // namespace graphline
