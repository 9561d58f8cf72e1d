#pragma once

#include <cstddef>
#include <string>

#include "framework/stage/stage_registry.hpp"

namespace graphline {

/// Returns the output of `graphline stages KIND`: headline, inputs, outputs, parameters and the
/// kind's `manual`, as plain text of `width` columns.
std::string describe_kind(const stage_kind& kind, std::size_t width = 80);

/// Returns the output of `graphline stages`: a line for each kind with where it runs and its
/// headline. The kinds of a plug-in follow the name of its file.
std::string list_kinds(const stage_registry& registry, std::size_t width = 80);

}  // namespace graphline
