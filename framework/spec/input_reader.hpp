#pragma once

#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/node.hpp"
#include "framework/spec/parameter.hpp"
#include "framework/spec/pipeline_spec.hpp"

namespace graphline {

/// The keys of an input.
const std::vector<parameter>& input_keys();

/// Reads the `inputs:` section, a mapping from names to inputs. An input whose
/// shape could not be read is left out.
std::vector<input_spec> read_inputs(const node& section, diagnostics& out);

}  // namespace graphline
