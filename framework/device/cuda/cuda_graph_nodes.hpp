#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <vector>

#include "framework/device/cuda/cuda_capture.hpp"
#include "framework/device/device.hpp"

namespace graphline {

struct cuda_engine;

/// The nodes of a captured graph, those of graphs within it in the place of these, in an order that
/// satisfies every dependency. `name` is the graph's, for messages.
std::vector<graph_node> list_nodes(cuda_engine& engine, cudaGraph_t graph, const std::string& name,
                                   const stamp_names& stamps);

}  // namespace graphline
