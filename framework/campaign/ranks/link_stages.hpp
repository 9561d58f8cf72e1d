#pragma once

#include <vector>

#include "framework/plan/rank_parts.hpp"
#include "framework/ranks/tensor_links.hpp"
#include "framework/stage/stage_registry.hpp"

namespace graphline {

/// Returns the links of a rank to others, one for each transfer that it sends or receives, in
/// order.
/// @throws input_error if a tensor is too large
std::vector<tensor_link> links_of_rank(const std::vector<rank_transfer>& transfers, int rank);

/// Adds the kinds of the stages that send and receive; see `part_of_rank`.
/// @param links Made from `links_of_rank`; outlives the stages.
void add_link_kinds(stage_registry& to, const std::vector<rank_transfer>& transfers, int rank,
                    tensor_links& links);

}  // namespace graphline
