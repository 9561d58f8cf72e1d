#pragma once

#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/experiment_spec.hpp"
#include "framework/spec/node.hpp"
#include "framework/spec/parameter.hpp"

namespace graphline {

/// The keys of a member.
const std::vector<parameter>& member_keys();

/// Reads the list of `together:`, pipelines that run at once. A member without a `name` is called
/// as its pipeline's file is, without the extension.
std::vector<member_spec> read_members(const node& section, diagnostics& out);

}  // namespace graphline
