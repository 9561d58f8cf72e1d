#pragma once

#include <cstdint>
#include <string>

#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/plan/experiment_plan.hpp"
#include "framework/record/experiment_record.hpp"

namespace graphline {

/// The report of an experiment as one HTML file. Starts with `html_beginning`. Figures and words
/// are those of `experiment_table`.
std::string experiment_html(const experiment_record& record);

/// The same where the summary is there already.
std::string experiment_html(const experiment_record& record, const experiment_summary& summary);

/// About how large it becomes, for reserving it on the disk.
std::uint64_t expected_experiment_html_bytes(const experiment_plan& planned);

}  // namespace graphline
