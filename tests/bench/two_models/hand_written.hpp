#pragma once

// pipelines/two_models.yaml by hand: what it does on a GPU, without Graphline.

#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <vector>

#include "framework/base/precision.hpp"

namespace two_models {

/// The two networks, each captured into a graph, with weights and image from the tensors that
/// `graphline run --save-tensors` wrote. Channels are last inside; between the networks the tensor
/// has the type of the precision.
class hand_written {
 public:
  virtual ~hand_written() = default;

  virtual void launch_backbone() = 0;
  virtual void launch_head() = 0;
  virtual void wait() = 0;  ///< until the head launched last is complete, asleep

  virtual std::vector<float> score() = 0;  ///< of the last frame
  virtual std::string choices() const = 0;
};

std::unique_ptr<hand_written> make_hand_written(const std::string& tensors,
                                                graphline::precision precision);

}  // namespace two_models
