#pragma once

#include <framework/stage/stage.hpp>

#include <memory>

#include "arithmetic.hpp"

namespace my {

/// The constants of my.normalize in device memory: c means, then c standard deviations.
class channel_constants {
 public:
  /// Allocates and waits for a copy, so call it while a stage is prepared.
  channel_constants(graphline::device& d, const graphline::stage_config& config);

  /// Returns the kernel's arguments for the tensors of a slot.
  normalization on(const graphline::stage_tensors& tensors) const;

 private:
  std::int64_t channels_;
  graphline::memory values_;
};

/// Factory for the device `cuda`, defined in normalize_cuda.cu.
std::unique_ptr<graphline::device_stage> make_normalize_cuda(graphline::device& d,
                                                             const graphline::stage_config& config);

}  // namespace my
