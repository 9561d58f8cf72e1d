#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "stages/nn/definition/definition.hpp"
#include "stages/nn/fusion/fusion.hpp"
#include "stages/nn/program/program.hpp"
#include "stages/nn/weights/network_weights.hpp"

namespace graphline::nn {

/// Base class of host and CUDA lowering. The network and the weights must outlive it.
class network_lowering {
 public:
  const network_definition& network() const noexcept { return network_; }
  const network_layer& layer(std::size_t index) const { return network_.layers[index]; }

  const shape& input_shape(const network_layer& layer) const { return network_.input_of(layer); }
  const shape& output_shape(const network_layer& layer) const { return network_.output_of(layer); }
  const weight_table& weights() const noexcept { return weights_; }

  /// Returns "stage 'head', layer '0.linear'".
  std::string owner(const network_layer& layer) const {
    return fmt::format("{}, layer '{}'", owner_, layer.name);
  }

  /// Appends text to the current part's notes in reports.
  void note(const std::string& text) {
    if (!notes_.empty()) notes_ += between_;
    notes_ += text;
  }

 protected:
  /// `owner` leads messages: "stage 'head'"; `between` separates notes.
  network_lowering(const network_definition& network, const weight_table& weights,
                   std::string owner, const char* between, const element_sizes& sizes)
      : network_(network),
        weights_(weights),
        owner_(std::move(owner)),
        between_(between),
        sizes_(sizes) {}

  /// Adds a part for `group` with the steps from the end of the previous part to `end`. Adds
  /// nothing if there are no steps.
  void add_part(program& to, const layer_group& group, std::size_t end) {
    std::string notes = std::exchange(notes_, {});
    if (end == (to.parts.empty() ? 0 : to.parts.back().end_steps)) return;
    to.parts.push_back(
        {name_of(network_, group), std::move(notes), cost_of(network_, group, sizes_), end});
  }

  /// Returns the indices of the network's outputs that a group computes.
  std::vector<std::size_t> outputs_of(const layer_group& group) const {
    const std::vector<std::size_t>& given = network_.layers[group.last()].outputs;
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < network_.outputs.size(); ++i) {
      if (std::ranges::find(given, network_.outputs[i]) != given.end()) found.push_back(i);
    }
    return found;
  }

 private:
  const network_definition& network_;
  const weight_table& weights_;
  std::string owner_;
  const char* between_;
  element_sizes sizes_;
  std::string notes_;
};

}  // namespace graphline::nn
