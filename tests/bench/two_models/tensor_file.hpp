#pragma once

#include <string>
#include <vector>

namespace two_models {

/// A float32 tensor that `graphline run --save-tensors` wrote.
struct tensor_file {
  std::vector<int> shape;
  std::vector<float> values;
};

/// Reads FOLDER/NAME.npy. Ends the program with a message where that cannot be done.
tensor_file read_tensor(const std::string& folder, const std::string& name);

}  // namespace two_models
