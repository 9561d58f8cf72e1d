#include "framework/device/host/host_graph.hpp"

#include <algorithm>

#include "framework/device/host/graph_run.hpp"
#include "framework/device/host/host_engine.hpp"

namespace graphline {

host_graph_exec::host_graph_exec(host_engine& engine,
                                 std::shared_ptr<const captured_graph> captured)
    : engine_(engine), captured_(std::move(captured)), replay_(*captured_) {
  const bool has_calls = std::ranges::any_of(captured_->commands, [](const command& c) {
    return std::holds_alternative<call_command>(c);
  });
  if (has_calls) run_ = std::make_unique<graph_run>(*captured_);
}

host_graph_exec::~host_graph_exec() {
  engine_.lanes.wait(latest_launch_.load(), wait_mode::block);
}

command host_graph_exec::launch_after(dependency after) noexcept {
  if (run_ != nullptr) return run_command{run_.get(), after};
  return launch_command{&replay_, after};
}

}  // namespace graphline
