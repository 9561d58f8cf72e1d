#pragma once

#include <string>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/plan/plan.hpp"
#include "framework/spec/pipeline_spec.hpp"

namespace graphline {

/// Kinds of the stages that `part_of_rank` adds. Their parameter `transfer` is an index into the
/// pipeline's transfers.
inline constexpr const char* send_kind = "rank.send";
inline constexpr const char* receive_kind = "rank.receive";
inline constexpr const char* signal_kind = "rank.signal";
inline constexpr const char* await_kind = "rank.await";

/// Returns what the ranks of a plan send to each other. Reports settings and stages that do not
/// work across ranks to `out`.
std::vector<rank_transfer> transfers_of(const pipeline_spec& spec, const plan& whole,
                                        diagnostics& out);

/// Returns the stages of one rank, in planned order, with the stages that send and receive. A stage
/// that receives waits for those that send what the other rank needs for it. Frames arrive at rank
/// 0 only; the others begin a frame when there is room for it.
/// @param whole The plan of all stages together.
pipeline_spec part_of_rank(const pipeline_spec& spec, const plan& whole, int rank);

}  // namespace graphline
