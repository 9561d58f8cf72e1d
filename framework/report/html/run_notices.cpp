#include "framework/report/html/run_notices.hpp"

#include "framework/report/terminal/heading.hpp"

namespace graphline {

nlohmann::ordered_json notices_of(const run_record& record, const run_summary& summary,
                                  std::string_view which) {
  auto list = nlohmann::ordered_json::array();
  const auto done = std::to_string(record.frames.size()) + " of " +
                    counted(record.run.frames, "frame") + std::string(which);
  if (record.failure) {
    list.push_back({{"tone", "bad"}, {"text", "Failed after " + done + ": " + *record.failure}});
  }
  if (record.interrupted) {
    list.push_back({{"tone", "bad"}, {"text", "Interrupted after " + done}});
  }
  for (const auto& finding : summary.findings) {
    list.push_back({{"tone", "bad"}, {"text", finding}});
  }
  for (const auto& warning : summary.warnings) {
    list.push_back({{"tone", "warning"}, {"text", warning}});
  }
  return list;
}

std::string amount_of(const run_record& record) {
  const auto parameters = parameters_of(record);
  return parameters + (parameters.empty() ? "" : "; ") + counted(record.run.frames, "frame") +
         " after " + std::to_string(record.run.warmup) + " warm-up";
}

}  // namespace graphline
