#pragma once

#include "framework/device/capture_session.hpp"
#include "framework/device/host/lane.hpp"

namespace graphline {

class host_event;
class host_stream;

/// Its commands: operations, copies, fills, calls and stamps only.
using host_captured = captured_graph<command>;

using host_capture = capture_session<host_stream, host_event, command>;
using host_captures = capture_registry<host_capture>;

}  // namespace graphline
