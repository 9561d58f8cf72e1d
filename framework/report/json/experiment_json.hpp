#pragma once

#include <cstdint>
#include <vector>

#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/analysis/finding.hpp"
#include "framework/base/file/text_sink.hpp"
#include "framework/plan/experiment_plan.hpp"
#include "framework/record/experiment_record.hpp"
#include "framework/report/json/json_beginning.hpp"
#include "framework/report/json/json_part.hpp"

namespace graphline {

/// The result file `graphline.experiment/1`: what was run, every figure and verdict, and every raw
/// sample of every trial. Keys are only ever added. Starts with `json_beginning`.
/// `summary` and `findings`: the record's.
void write_experiment_json(text_sink& to, const experiment_record& record,
                           const experiment_summary& summary, const std::vector<finding>& findings);

/// About how large the result of a planned experiment becomes, for reserving it on the disk.
std::uint64_t expected_experiment_json_bytes(const experiment_plan& planned);

/// The way back: all that reports are made from, of JSON that says it is such a result. Throws an
/// `input_error` that says which key is missing or holds something else than it should.
experiment_record experiment_from(const json_part& from);

}  // namespace graphline
