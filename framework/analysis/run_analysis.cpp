#include "framework/analysis/run_analysis.hpp"

#include <utility>

namespace graphline {

run_analysis analyse(const run_record& record) {
  auto attribution = attribute(record);
  auto roofline = hold_against_roofline(record, nullptr, attribution);
  return {summarize(record), std::move(attribution), std::move(roofline)};
}

}  // namespace graphline
