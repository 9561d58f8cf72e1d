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

/// Opens the safetensors file that `weights` names and reads its header. At the place of `weights`,
/// reports a file of another format and tensors that no layer has; ignores a batch norm's
/// num_batches_tracked. Reports a missing tensor, or a tensor of wrong shape or type, at its layer.
/// @return null if `weights` is not given, and after an error
std::shared_ptr<const safetensors_file> open_weights(const network_definition& network,
                                                     const arguments& values, diagnostics& out);

/// Returns the network's constants in host memory, in the order of its values. If `file` is null,
/// draws them from a seed so that values keep their magnitude through all layers.
/// @throws input_error if the file cannot be read
std::vector<named_tensor> network_weights(const network_definition& network,
                                          const safetensors_file* file, std::uint64_t seed);

bool have_equal_bytes(std::span<const std::byte> a, std::span<const std::byte> b) noexcept;

/// The constants of a network, by layer input or by value.
class weight_table {
 public:
  /// `tensors` are the network's constants, in the order of its values.
  weight_table(const network_definition& network, std::vector<named_tensor> tensors);

  /// Frees the tensors that equal a tensor of `other` and uses that one.
  void share(const weight_table& other);

  /// Returns a constant input of a layer; empty if the layer has fewer inputs.
  std::span<const float> of(const network_layer& layer, std::size_t input) const;

  /// Returns the data of a constant.
  std::span<const float> of(std::size_t value) const;

 private:
  std::vector<std::shared_ptr<const named_tensor>> tensors_;
  std::vector<std::size_t> of_value_;
};

/// Fills `values` with uniform numbers in [-bound, bound]. Uses 53 bits of std::mt19937_64 per
/// number, so that all machines and standard libraries give identical numbers.
void draw_uniform(std::span<float> values, double bound, std::uint64_t seed);

}  // namespace graphline::nn
