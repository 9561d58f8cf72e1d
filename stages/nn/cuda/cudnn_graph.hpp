#pragma once

// Convolutions as cuDNN frontend graphs. Only cudnn_graph.cpp includes the frontend, which is slow
// to compile.

#include <memory>
#include <string>
#include <vector>

#include "stages/nn/cuda/cuda_library.hpp"
#include "stages/nn/cuda/cudnn_handle.hpp"
#include "stages/nn/cuda/plan_choices.hpp"

namespace graphline::nn {

/// A cuDNN engine configuration that can run a graph.
struct cudnn_candidate {
  std::string name;  ///< unique per graph and cuDNN version: "eng7_k2=4_k13=1"
  bool tensor_cores = false;
};

/// At least one plan for a form on the handle's device. All plans are deterministic and as precise
/// as the form demands: none for `float32` uses tensor cores. Returns null, with cuDNN's reason in
/// `why_not`, if there is none.
std::unique_ptr<plan_choices> make_convolution_plans(const convolution_form& form,
                                                     std::shared_ptr<cudnn_handle> handle,
                                                     std::string& why_not);

/// Candidates of the same graph on a device that need not be present, described by cuDNN's JSON of
/// device properties. Returns none, with cuDNN's reason in `why_not`, on failure. Needs cuDNN and a
/// libcuda.so.1; the toolkit's stub suffices.
std::vector<cudnn_candidate> offered_candidates(const convolution_form& form,
                                                const std::string& device_properties,
                                                std::string& why_not);

/// Version of the frontend's headers in this build: "1.32.0".
std::string cudnn_frontend_version();

}  // namespace graphline::nn
