#pragma once

#include <functional>
#include <memory>

#include "framework/base/clock.hpp"
#include "framework/base/words.hpp"
#include "framework/device/device.hpp"
#include "framework/record/graph_record.hpp"

namespace graphline {

/// Captures what `enqueue` puts on `origin`, instantiates it and launches it once, all of it timed
/// into `into`. The first time for a record, it also repeats both ways of handing the work over, by
/// launch and operation by operation, three to nine times; only once where that takes a quarter of
/// a second. The device must be idle, and is so again.
std::unique_ptr<graph_exec> make_measured_graph(device& d, stream& origin,
                                                const std::function<void()>& enqueue, wait_mode how,
                                                graph_record& into);

}  // namespace graphline
