#pragma once

#include <cstdint>

#include "framework/base/file/text_sink.hpp"
#include "framework/plan/experiment_plan.hpp"
#include "framework/record/capacity_record.hpp"
#include "framework/record/experiment_record.hpp"
#include "framework/record/run_record.hpp"
#include "framework/report/document.hpp"

namespace graphline::report {

/// A result file: what the document says and the record it was made of, without loss.
void write_result(text_sink& to, const document& says, const run_record& record);
void write_result(text_sink& to, const document& says, const roofline_record& record);
void write_result(text_sink& to, const document& says, const capacity_record& record);
void write_result(text_sink& to, const document& says, const experiment_record& record);

/// About how long that is for so many frames and stages.
std::uint64_t expected_run_bytes(std::int64_t frames, std::size_t stages);
std::uint64_t expected_roofline_bytes(std::int64_t frames, std::size_t stages);
std::uint64_t expected_experiment_bytes(const experiment_plan& planned);

}  // namespace graphline::report
