#pragma once

// A convolution as a graph of cuDNN's frontend. Only cudnn_graph.cpp includes the frontend, which
// takes long to compile.

#include <memory>
#include <string>
#include <vector>

#include "stages/nn/cuda/cuda_library.hpp"
#include "stages/nn/cuda/cudnn_handle.hpp"
#include "stages/nn/cuda/plan_choices.hpp"

namespace graphline::nn {

/// An engine of cuDNN's with all its choices made, which could carry out a graph.
struct cudnn_candidate {
  std::string name;  ///< tells it from the graph's others, in one cuDNN version: "eng7_k2=4_k13=1"
  bool tensor_cores = false;
};

/// The plans for a form on the handle's device, at least one. All give the same bits at each run,
/// and all compute as precisely as the form demands: none of `float32` uses tensor cores. Null, and
/// cuDNN's reason in `why_not`, when there is none.
std::unique_ptr<plan_choices> make_convolution_plans(const convolution_form& form,
                                                     std::shared_ptr<cudnn_handle> handle,
                                                     std::string& why_not);

/// The candidates that the same graph has on a device that need not be there, given as the JSON
/// that cuDNN makes of a device's properties. None, and cuDNN's reason in `why_not`, when it has
/// none. Needs cuDNN and a libcuda.so.1, if only the toolkit's stub.
std::vector<cudnn_candidate> offered_candidates(const convolution_form& form,
                                                const std::string& device_properties,
                                                std::string& why_not);

/// "1.32.0", of the headers that this program was built with.
std::string cudnn_frontend_version();

}  // namespace graphline::nn
