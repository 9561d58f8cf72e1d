#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/base/place.hpp"
#include "framework/spec/node.hpp"
#include "framework/spec/parameter.hpp"
#include "framework/spec/pipeline_spec.hpp"
#include "framework/spec/yaml_reader.hpp"

namespace graphline {

/// What a file's parameters depend on besides the file.
struct reading_options {
  std::string backend = "host";  ///< which of a per-device value's entries holds: "host" or "cuda"
  std::vector<std::pair<std::string, std::string>> set = {};  ///< --set name=value, in order
  /// Values of parameters from another file, applied before `set`, each in any form that `params:`
  /// takes. What is wrong with one is reported at its place there.
  std::vector<node::member> values = {};
};

/// The keys at the top of a pipeline file. Those that begin with "x-" are the writer's own.
const std::vector<parameter>& pipeline_keys();

/// The keys of an input.
const std::vector<parameter>& input_keys();

/// The keys that every stage has, whatever its kind.
const std::vector<parameter>& stage_keys();

/// Turns a pipeline file's text into its spec. Everything that is wrong goes to `out`, all of it at
/// once; the spec that comes back then holds what could be understood, so that a planner can go on
/// and find more. `directory` of the spec is the folder of the source's name.
pipeline_spec read_pipeline(std::shared_ptr<const source_text> source,
                            const reading_options& options, diagnostics& out);

}  // namespace graphline
