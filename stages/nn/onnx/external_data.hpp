#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "stages/nn/onnx/onnx_tensor.hpp"

namespace graphline::nn {

/// The files beside a model in which tensors have their data.
class external_data {
 public:
  /// Where they lie by TensorProto.external_data: "location", and as numbers "offset" and "length".
  using entries = std::map<std::string, std::string>;

  explicit external_data(std::string model) : model_(std::move(model)) {}

  /// The bytes of a tensor, whose type and extents are set. Throws `input_error`, which names the
  /// model and the tensor, for a file that cannot be read or is too short, and for a path that
  /// leads out of the model's folder, also by a link.
  std::string read(const entries& where, const onnx_tensor& tensor, const std::string& subject);

 private:
  std::string model_;
  std::map<std::string, std::uint64_t> taken_;  ///< bytes read of each file
};

}  // namespace graphline::nn
