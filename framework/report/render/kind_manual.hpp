#pragma once

#include <cstddef>
#include <string>

#include "framework/stage/stage_registry.hpp"

namespace graphline {

/// What `graphline stages KIND` prints: headline, inputs, outputs, parameters, then the kind's own
/// `manual`. Plain text ending in a newline, in so many columns.
std::string describe_kind(const stage_kind& kind, std::size_t width = 80);

/// What `graphline stages` prints: a line for each kind with where it runs and its headline, the
/// kinds of each plug-in together beneath its file.
std::string list_kinds(const stage_registry& registry, std::size_t width = 80);

}  // namespace graphline
