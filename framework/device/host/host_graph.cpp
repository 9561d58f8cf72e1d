#include "framework/device/host/host_graph.hpp"

#include "framework/device/host/host_engine.hpp"

namespace graphline {

host_graph_exec::~host_graph_exec() {
  engine_.lanes.wait(latest_launch_.load(), wait_mode::block);
}

}  // namespace graphline
