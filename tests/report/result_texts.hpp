#pragma once

#include <string>

#include "framework/base/file/text_sink.hpp"
#include "framework/report/csv/stamps_csv.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/trace/trace_json.hpp"

// Results whole, as the program hands them on in pieces.

namespace graphline {

inline std::string run_csv(const run_record& record) {
  return text_by(write_run_csv, record);
}

inline std::string trace_json(const run_record& record) {
  return text_by([](text_sink& to, const run_record& of) { write_trace(to, of); }, record);
}

/// The result file of a kind that is described: a run, an experiment, a
/// roofline, a capacity search.
template <class Record>
std::string result_json(const Record& record) {
  const auto says = report::describe(record);
  return text_by([&](text_sink& to) { report::write_json(to, says, &record); });
}

inline std::string calibration_json(const calibration_record& record) {
  return text_by([](text_sink& to, const report::document& of) { report::write_json(to, of); },
                 report::describe(record));
}

inline std::string experiment_csv(const experiment_record& record) {
  return text_by(write_experiment_csv, record);
}

}  // namespace graphline
