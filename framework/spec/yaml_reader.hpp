#pragma once

#include <memory>
#include <string>

#include "framework/base/diagnostic.hpp"
#include "framework/base/text_file.hpp"
#include "framework/spec/node.hpp"

namespace graphline {

/// Reads a file of at most 16 MiB. Throws an `input_error` that names the path and the remedy when
/// it cannot be read, is a directory, is empty, or is binary, or where a file names it and it is no
/// regular file.
std::shared_ptr<const source_text> read_source(const std::string& path,
                                               named_by who = named_by::file);

/// Parses YAML text into a node with places. Anchors, aliases and merge keys (`<<`) are resolved; a
/// duplicate key, more than one document, nesting deeper than 64 or more than a `node_budget` with
/// what aliases repeat is reported. The only place that knows the YAML library.
node read_yaml(std::shared_ptr<const source_text> source, diagnostics& out);

}  // namespace graphline
