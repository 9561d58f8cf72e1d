#pragma once

#include "framework/base/stop_request.hpp"
#include "framework/record/run_record.hpp"
#include "framework/run/execute/prepared_pipeline.hpp"

namespace graphline {

/// Runs each device stage alone, a run at a time and without its graph, while the device notes its
/// operations, and adds them to the stages of `record`. A device that cannot trace, or a trace that
/// breaks off, leaves a warning there. Overwrites what the first slot holds.
void trace_stages(prepared_pipeline& pipeline, run_record& record, const stop_request* stop);

}  // namespace graphline
