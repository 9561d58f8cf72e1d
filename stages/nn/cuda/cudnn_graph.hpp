#pragma once

// Convolutions and attention as cuDNN frontend graphs. Only cudnn_graph.cpp includes the frontend,
// which is slow to compile.

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

/// Returns one or more plans for a form on the handle's device; null, with cuDNN's reason in
/// `why_not`, if there is no plan. All plans are deterministic and have the form's precision: plans
/// for `float32` do not use tensor cores.
template <class Form>
std::unique_ptr<plan_choices> make_cudnn_plans(const Form& form,
                                               std::shared_ptr<cudnn_handle> handle,
                                               std::string& why_not);

/// Returns the candidates for a form on the device that `device_properties` describes in cuDNN's
/// JSON. The device need not be present. On failure, returns no candidates, with cuDNN's reason in
/// `why_not`. Needs cuDNN and libcuda.so.1 or the toolkit's stub of it.
template <class Form>
std::vector<cudnn_candidate> offered_candidates(const Form& form,
                                                const std::string& device_properties,
                                                std::string& why_not);

/// Returns the version of the frontend's headers: "1.32.0".
std::string cudnn_frontend_version();

}  // namespace graphline::nn
