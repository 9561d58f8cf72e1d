#pragma once

#include "framework/record/calibration_record.hpp"
#include "framework/record/cost_record.hpp"
#include "framework/report/json/compact_json.hpp"
#include "framework/report/json/json_part.hpp"

namespace graphline {

// What records keep so that a run can be held against what its device can do, without loss, and the
// way back, which throws an `input_error` that names what is missing or cannot be.

/// What is not known is null.
void write_cost(compact_json& to, const cost_record& cost);
cost_record cost_from(const json_part& from);

/// Whether a ceiling can be of this value: reports divide by it.
bool is_ceiling_value(double value) noexcept;

/// Bandwidths and rates a second, durations in nanoseconds.
void write_calibration(compact_json& to, const calibration& kept);
calibration calibration_from(const json_part& from);

}  // namespace graphline
