#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "framework/stage/stage_registry.hpp"

namespace graphline {

/// The policy of runs that name none: the oldest frame first, in planned order. It has no object,
/// because it is the order of equal ranks.
inline constexpr std::string_view default_policy = "oldest_frame";

/// Returns the built-in policies in the order of their documentation.
const std::vector<policy_kind>& builtin_policies();

/// Returns the built-in policies, then those of the registry's plug-ins.
/// @throws input_error if a plug-in brings a policy with the name of a built-in one
std::vector<const policy_kind*> all_policies(const stage_registry& registry);

/// @return null if there is no policy of that name
const policy_kind* find_policy(const std::vector<const policy_kind*>& among, std::string_view name);

/// Returns " (did you mean 'X'?)", or the known names.
std::string policy_suggestion(const std::vector<const policy_kind*>& among, std::string_view name);

}  // namespace graphline
