#pragma once

#include "framework/stage/stage_registry.hpp"

namespace graphline {

/// Returns a registry with every built-in stage kind.
stage_registry builtin_stages();

}  // namespace graphline
