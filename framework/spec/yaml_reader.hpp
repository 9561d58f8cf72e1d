#pragma once

#include <memory>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/node.hpp"

namespace graphline {

/// Parses YAML text into a node with places. Anchors, aliases and merge keys (`<<`) are resolved; a
/// duplicate key, more than one document, nesting deeper than 64 or an alias expansion beyond
/// 100,000 nodes is reported. The only place that knows the YAML library.
node read_yaml(std::shared_ptr<const source_text> source, diagnostics& out);

}  // namespace graphline
