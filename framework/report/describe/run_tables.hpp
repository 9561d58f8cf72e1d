#pragma once

#include <optional>
#include <vector>

#include "framework/report/describe/describe.hpp"

namespace graphline::report {

// What the document of a run is made of.

inline constexpr auto not_in_text = in_page | in_data;

/// A number without a unit.
template <class T>
cell whole(T number) {
  return quantity{static_cast<double>(number), unit::none};
}

/// Times for a cell; `in_order` for data only.
sampled samples_of(const std::optional<distribution>& times, std::vector<nanoseconds> in_order);

/// A row of the figures, and below the percentiles the ends of their intervals. Of a run with
/// frames, as the next one.
table end_to_end_table(const run_analysis& analysis);

/// What a page begins with and a comparison goes by.
facts latency_facts(const run_analysis& analysis);

/// Stages in planned order, each with its parts; those that were not timed in data only.
table stage_table(const run_record& record, const run_analysis& analysis);

/// As a trace of each stage alone saw them; in planned order.
table operation_table(const run_record& record);

/// Where the time of frames went, and the lower bounds of it.
void add_attribution(document& to, const run_record& record, const attribution_summary& summary);

}  // namespace graphline::report
