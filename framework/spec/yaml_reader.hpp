#pragma once

#include <memory>
#include <string>

#include "framework/base/diagnostic.hpp"
#include "framework/base/text_file.hpp"
#include "framework/spec/node.hpp"

namespace graphline {

/// Reads a text file of at most 16 MiB.
/// @throws unreadable_file like `read_text_file`, and for invalid UTF-8 or control characters
std::shared_ptr<const source_text> read_source(const std::string& path,
                                               named_by who = named_by::file);

/// Parses YAML into a node with places. Resolves anchors, aliases and merge keys (`<<`). Reports
/// duplicate keys, several documents, nesting deeper than 64, and values beyond a `node_budget`.
/// Null after a syntax error.
node read_yaml(std::shared_ptr<const source_text> source, diagnostics& out);

}  // namespace graphline
