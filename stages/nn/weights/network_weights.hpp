#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/base/tensor_type.hpp"
#include "framework/spec/parameter.hpp"
#include "stages/nn/definition/definition.hpp"

namespace graphline::nn {

/// Checks the safetensors file named by `weights`, if any, by its header. Reports at the file's
/// name if it is not a safetensors file or has tensors that no layer has (except a batch norm's
/// num_batches_tracked, unused in inference); at a layer, a tensor that is missing or has another
/// shape or type.
void check_weights(const network_definition& network, const arguments& values, diagnostics& out);

/// All constants of the network in host memory, in the order of its values: from the safetensors
/// file named by `weights`, or drawn from a seed such that values keep their magnitude through all
/// layers. @throws input_error with all that `check_weights` reports.
std::vector<named_tensor> network_weights(const network_definition& network,
                                          const arguments& values, std::uint64_t seed);

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
