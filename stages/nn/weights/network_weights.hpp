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

/// Reports what is wrong with the file that `weights` names, if it names one: at that
/// name what is no safetensors file, and tensors that no layer has (a batch norm's
/// num_batches_tracked aside, which inference does not use); at a layer the tensor it lacks or that
/// has another shape or type. Reads the file's header alone.
void check_weights(const network_definition& network, const arguments& values, diagnostics& out);

/// Every constant of the network in host memory, in the order of its values: from the safetensors
/// file that `weights` names, or drawn from a seed, so that values keep their size through
/// all layers. Throws an `input_error` with all that `check_weights` reports.
std::vector<named_tensor> network_weights(const network_definition& network,
                                          const arguments& values, std::uint64_t seed);

/// The constants of a network as layers read them.
class weight_table {
 public:
  /// `tensors` are the network's constants, in the order of its values.
  weight_table(const network_definition& network, std::vector<named_tensor> tensors);

  /// What a layer reads as its input of that number, which is a constant; empty when the layer has
  /// not so many.
  std::span<const float> of(const network_layer& layer, std::size_t input) const;

  /// A constant by its value.
  std::span<const float> of(std::size_t value) const;

 private:
  std::vector<named_tensor> tensors_;
  std::vector<std::size_t> of_value_;
};

/// Fills `values` with numbers uniform in [-bound, bound], the same on every machine and with every
/// standard library: 53 bits of std::mt19937_64, whose sequence the standard fixes, per number.
void draw_uniform(std::span<float> values, double bound, std::uint64_t seed);

}  // namespace graphline::nn
