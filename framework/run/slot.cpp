#include "framework/run/slot.hpp"

#include "framework/run/frame_graph.hpp"

namespace graphline {

slot::slot() = default;
slot::slot(slot&&) noexcept = default;
slot::~slot() = default;

}  // namespace graphline
