#include "framework/run/execute/slot.hpp"

#include "framework/run/execute/frame_graph.hpp"

namespace graphline {

slot::slot() = default;
slot::slot(slot&&) noexcept = default;
slot::~slot() = default;

}  // namespace graphline
