#pragma once

#include <string>
#include <utility>
#include <vector>

namespace graphline {

/// Returns a pipeline, in YAML, with one stage that runs an ONNX model. Its parameters are the
/// dimensions that the model's inputs leave open, named as in the model, or INPUT_AXIS without a
/// name. Their values come from `set`; the first dimension of an input is 1 by default. `set` can
/// also give the value of an input, which is then constant. Other inputs of integers are ones,
/// which are valid as indices and masks.
/// @param written The model's path from the folder of the pipeline
/// @throws input_error like `read_onnx`, or naming the dimensions that have no value
std::string pipeline_of_model(const std::string& path, const std::string& written,
                              const std::vector<std::pair<std::string, std::string>>& set);

}  // namespace graphline
