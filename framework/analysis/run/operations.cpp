#include "framework/analysis/run/operations.hpp"

#include "framework/analysis/stats/distribution.hpp"

namespace graphline {

std::vector<operation_summary> operations_of(const stage_record& stage) {
  std::vector<operation_summary> result;
  for (const auto& operation : stage.operations) {
    const auto times = distribution::of(operation.calls);
    const auto together = distribution::of(operation.together);
    if (!times || !together) continue;
    result.push_back({operation.name,
                      static_cast<double>(times->count()) / static_cast<double>(stage.traced_runs),
                      times->median(), together->median()});
  }
  return result;
}

}  // namespace graphline
