#pragma once

#include <memory>
#include <optional>
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

/// The backend and the parameter values from outside the file.
struct reading_options {
  std::string backend = "host";  ///< selects the value of a parameter that differs by backend
  std::vector<std::pair<std::string, std::string>> set = {};  ///< --set name=value, in order
  /// Parameter values from another file, in any form that `params:` allows; applied before `set`.
  std::vector<node::member> values = {};
  bool several_backends = false;  ///< a parameter may lack this backend until it is used
};

/// Returns the top-level keys of a pipeline file. Users may add keys that begin with "x-".
const std::vector<parameter>& pipeline_keys();

/// Returns the keys of a device that is given as a mapping.
const std::vector<parameter>& device_keys();

/// Returns the keys of an input.
const std::vector<parameter>& input_keys();

/// Returns the keys of a stage, without the parameters of its kind.
const std::vector<parameter>& stage_keys();

/// Returns the key `priority`: a word, or a level up to `most_level`.
parameter priority_key(std::string help);

/// Reads the value of `priority` as a level. Empty after an error.
std::optional<int> read_priority(const node& value, diagnostics& out);

/// Reads a pipeline file and reports all errors. After errors, the spec contains the valid parts,
/// so that the planner can find more errors.
pipeline_spec read_pipeline(std::shared_ptr<const source_text> source,
                            const reading_options& options, diagnostics& out);

/// Reads the YAML of a pipeline file. The result is null after an error.
node read_pipeline_document(std::shared_ptr<const source_text> source, diagnostics& out);

/// Reads a pipeline from the document of its file, as `read_pipeline` does from the text. A null
/// document gives an empty spec.
pipeline_spec read_pipeline(std::shared_ptr<const source_text> source, const node& document,
                            const reading_options& options, diagnostics& out);

}  // namespace graphline
