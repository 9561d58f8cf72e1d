#pragma once

#include <cstddef>
#include <cstdint>

#include "framework/analysis/analyze.hpp"
#include "framework/base/file/text_sink.hpp"
#include "framework/record/run_record.hpp"
#include "framework/report/json/json_beginning.hpp"

namespace graphline {

/// The result file `graphline.run/1`: what was run, on what, and every sample of every stage, in
/// milliseconds. The contract other programs read; keys are only ever added. Starts with
/// `json_beginning`. `analysis`: that of the record.
void write_run_json(text_sink& to, const run_record& record, const run_analysis& analysis);

/// About how large the result of a run becomes, for reserving it on the disk.
std::uint64_t expected_json_bytes(std::int64_t frames, std::size_t stages);

}  // namespace graphline
