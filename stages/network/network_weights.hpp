#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/stage/stage.hpp"
#include "stages/network/definition.hpp"

namespace graphline {

/// Reports what is wrong with the file that a stage's `weights` names, if it names one: at that
/// name what is no safetensors file, and tensors that no layer has (a batch norm's
/// num_batches_tracked aside, which inference does not use); at a layer the tensor it lacks or that
/// has another shape or type. Reads the file's header alone.
void check_weights(const network_definition& network, const arguments& values, diagnostics& out);

/// Every weight of the network in host memory, in the order of the layers: from the safetensors
/// file of the stage's `weights`, or drawn from its seed, so that values keep their size through
/// all layers. Throws an `input_error` with all that `check_weights` reports.
std::vector<named_tensor> network_weights(const network_definition& network,
                                          const stage_config& config);

/// Weights by name.
class weight_table {
 public:
  explicit weight_table(std::vector<named_tensor> tensors);

  /// A weight of a layer by its own name ("bias"); empty when the layer has none of that name.
  std::span<const float> of(const network_layer& layer, std::string_view name) const;

 private:
  std::map<std::string, named_tensor, std::less<>> tensors_;
};

/// Fills `values` with numbers uniform in [-bound, bound], the same on every machine and with every
/// standard library: 53 bits of std::mt19937_64, whose sequence the standard fixes, per number.
void draw_uniform(std::span<float> values, double bound, std::uint64_t seed);

}  // namespace graphline
