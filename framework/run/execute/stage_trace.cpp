#include "framework/run/execute/stage_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <map>
#include <string_view>
#include <vector>

#include "framework/base/reason.hpp"

namespace graphline {
namespace {

constexpr int traced_runs = 10;

/// Not by its graph: that was made before the trace began, and CUPTI tells nothing dependable of
/// such graphs.
void run_alone(bound_stage& stage, device& d, wait_mode how) {
  stage.work->enqueue(*stage.on);
  d.synchronize(how);
}

/// Adds what one run of a stage consisted of.
void add_run(const std::vector<operation_time>& seen, stage_record& to) {
  ++to.traced_runs;
  std::map<std::string_view, nanoseconds> together;
  for (const auto& operation : seen) {
    auto known = std::find_if(to.operations.begin(), to.operations.end(),
                              [&](const auto& o) { return o.name == operation.name; });
    if (known == to.operations.end()) {
      to.operations.push_back({operation.name, {}, {}});
      known = std::prev(to.operations.end());
    }
    known->calls.push_back(operation.duration);
    together[operation.name] += operation.duration;
  }
  for (auto& operation : to.operations) {
    const auto found = together.find(operation.name);
    if (found != together.end()) operation.together.push_back(found->second);
  }
}

}  // namespace

void trace_stages(prepared_pipeline& pipeline, run_record& record, const stop_request* stop) {
  device& d = pipeline.device();
  const wait_mode how = pipeline.planned().run.wait;
  try {
    const auto trace = d.trace_operations();
    for (auto& stage : pipeline.slots().front().stages) {
      if (stage.cpu != nullptr) continue;
      if (stop != nullptr && stop->raised()) {
        record.warnings.push_back(fmt::format(
            "interrupted before the operations of stage '{}' and those after it were traced",
            stage.name));
        return;
      }
      run_alone(stage, d, how);  // what the first run under a trace sets up is not the stage's
      trace->take();
      for (int i = 0; i < traced_runs; ++i) {
        run_alone(stage, d, how);
        add_run(trace->take(), record.stages[stage.index]);
      }
    }
  } catch (const std::exception& e) {
    record.warnings.push_back(fmt::format("operations were not traced: {}", reason_of(e)));
  }
}

}  // namespace graphline
