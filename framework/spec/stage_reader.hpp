#pragma once

#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/node.hpp"
#include "framework/spec/parameter.hpp"
#include "framework/spec/pipeline_spec.hpp"

namespace graphline {

/// The keys that every stage has, whatever its kind.
const std::vector<parameter>& stage_keys();

/// Reads the `stages:` section, a list of mappings. Keys that every stage has are taken out; the
/// others are the parameters of its kind, which are not looked at here. Reports duplicate names. A
/// stage whose name or kind could not be read is kept, with that text empty.
std::vector<stage_spec> read_stages(const node& section, diagnostics& out);

}  // namespace graphline
