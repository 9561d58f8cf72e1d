#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/base/tensor_type.hpp"
#include "framework/spec/parameter.hpp"
#include "stages/nn/definition/definition.hpp"
#include "stages/nn/weights/safetensors.hpp"

namespace graphline::nn {

/// Opens the safetensors file that `weights` names and reads its header. Reports, at that name, a
/// file of another format and tensors that no layer has (except for a batch norm's
/// num_batches_tracked, which inference does not use); at a layer, a tensor that is missing or has
/// another shape or type.
/// @return null if `weights` is not given, and after an error
std::shared_ptr<const safetensors_file> open_weights(const network_definition& network,
                                                     const arguments& values, diagnostics& out);

/// Every constant of the network in host memory, in the order of its values: from `file`, or drawn
/// from a seed if that is null, so that values keep their size through all layers.
/// @throws input_error if the file cannot be read
std::vector<named_tensor> network_weights(const network_definition& network,
                                          const safetensors_file* file, std::uint64_t seed);

/// The constants of a network, by layer input or by value.
class weight_table {
 public:
  /// `tensors` are the network's constants, in the order of its values.
  weight_table(const network_definition& network, std::vector<named_tensor> tensors);

  /// A constant input of a layer; empty if the layer has fewer inputs.
  std::span<const float> of(const network_layer& layer, std::size_t input) const;

  /// A constant by its value.
  std::span<const float> of(std::size_t value) const;

 private:
  std::vector<named_tensor> tensors_;
  std::vector<std::size_t> of_value_;
};

/// Fills `values` with uniform numbers in [-bound, bound], identical on all machines and standard
/// libraries: 53 bits of std::mt19937_64 per number.
void draw_uniform(std::span<float> values, double bound, std::uint64_t seed);

}  // namespace graphline::nn
