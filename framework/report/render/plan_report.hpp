#pragma once

#include <string>

#include "framework/plan/plan.hpp"
#include "framework/plan/planner.hpp"
#include "framework/report/render/terminal_style.hpp"

namespace graphline {

/// The plan as `graphline check` prints it: settings, every stage in order with what it reads and
/// writes, what it amounts to and what it waits for, then streams, the graph of a frame that is
/// one, tensors with their place in a slot's memory, and memory in all. Lists end where the line
/// does; names that are longer push their own line wider. `target` is what the plan was made for.
std::string describe_plan(const plan& p, const plan_target& target, const terminal_style& as = {});

}  // namespace graphline
