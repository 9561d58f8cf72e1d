#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "framework/record/calibration_record.hpp"
#include "framework/report/json/json_beginning.hpp"
#include "framework/report/json/json_part.hpp"

namespace graphline {

/// "B/s", "FLOP/s" or "ns".
std::string_view unit_name(ceiling_unit unit) noexcept;

/// The result file `graphline.calibration/1`: the figure and every sample of each ceiling, and what
/// the device could do in theory. Keys are only ever added. Starts with `json_beginning`.
/// `clock_mhz`: that of the theoretical peaks, instead of the highest that the device states.
std::string calibration_json(const calibration_record& record,
                             std::optional<double> clock_mhz = {});

/// The way back, but for the theoretical peaks, which are made anew. Throws an `input_error` that
/// says which key is missing or holds something else than it should.
calibration_record calibration_record_from(const json_part& from);

}  // namespace graphline
