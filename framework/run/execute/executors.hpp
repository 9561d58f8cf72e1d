#pragma once

#include <memory>
#include <utility>

#include "framework/run/execute/frame_executor.hpp"
#include "framework/run/execute/in_order_executor.hpp"
#include "framework/run/execute/ready_executor.hpp"

namespace graphline {

/// Returns the executor for a pipeline's schedule on a host port, which is made from `world`.
template <class Host, class... World>
std::unique_ptr<executor> make_executor_on(prepared_pipeline& pipeline, World&&... world) {
  const schedule_properties& of = pipeline.planned().schedule.properties;
  const auto made = [&]<class Executor>(std::type_identity<Executor>) {
    return std::make_unique<Executor>(pipeline, std::forward<World>(world)...);
  };
  if (of.one_launch) return made(std::type_identity<frame_executor<Host>>());
  if (of.in_order) return made(std::type_identity<sequential_executor<Host>>());
  return made(std::type_identity<ready_executor<Host>>());
}

}  // namespace graphline
