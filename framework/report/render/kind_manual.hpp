#pragma once

#include <cstddef>
#include <string>

#include "framework/stage/stage_registry.hpp"

namespace graphline {

/// The output of `graphline stages KIND`: headline, inputs, outputs, parameters and the kind's
/// `manual`, as plain text of `width` columns.
std::string describe_kind(const stage_kind& kind, std::size_t width = 80);

/// The output of `graphline stages`: a line per kind with where it runs and its headline; kinds of
/// a plug-in follow its file.
std::string list_kinds(const stage_registry& registry, std::size_t width = 80);

}  // namespace graphline
