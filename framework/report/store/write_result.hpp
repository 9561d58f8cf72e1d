#pragma once

#include <cstdint>
#include <string_view>

#include "framework/base/file/text_sink.hpp"
#include "framework/plan/experiment_plan.hpp"
#include "framework/record/capacity_record.hpp"
#include "framework/record/experiment_record.hpp"
#include "framework/record/run_record.hpp"
#include "framework/report/document.hpp"

namespace graphline {

namespace report {

/// A result file: what the document says and the record it was made of, without loss. Of a run, an
/// experiment, a roofline or a search for the highest rate.
template <class Record>
void write_result(text_sink& to, const document& says, const Record& record);

/// About how long that is for so many frames and stages.
std::uint64_t expected_run_bytes(std::int64_t frames, std::size_t stages);
std::uint64_t expected_roofline_bytes(std::int64_t frames, std::size_t stages);
std::uint64_t expected_experiment_bytes(const experiment_plan& planned);

}  // namespace report
}  // namespace graphline
