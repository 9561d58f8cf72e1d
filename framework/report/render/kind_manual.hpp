#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "framework/stage/stage_registry.hpp"

namespace graphline {

/// Returns the text of `graphline stages KIND`: headline, inputs, outputs, parameters and the
/// kind's `manual`. `width`: in columns.
std::string describe_kind(const stage_kind& kind, std::size_t width = 80);

/// Returns the text of `graphline stages`: a line for each kind, which says where it runs and what
/// it does. The kinds of a plug-in follow the plug-in's file name.
std::string list_kinds(const stage_registry& registry, std::size_t width = 80);

/// Returns the text of `graphline policies NAME`: description, what the policy uses, its source in
/// the literature and its parameters.
std::string describe_policy(const policy_kind& kind, std::size_t width = 80);

/// Returns the text of `graphline policies`: a line for each policy. Those of a plug-in follow the
/// plug-in's file name.
std::string list_policies(const std::vector<const policy_kind*>& kinds, std::size_t width = 80);

}  // namespace graphline
