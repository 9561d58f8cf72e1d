#pragma once

#include <string_view>

#include "framework/record/calibration_record.hpp"
#include "framework/report/json/json_part.hpp"

namespace graphline {

/// "B/s", "FLOP/s" or "ns".
std::string_view unit_name(ceiling_unit unit) noexcept;

/// What a result file `graphline.calibration/1` holds, but for the theoretical peaks, which are
/// made again. Throws an `input_error` that says which key is missing or holds something else than
/// it should.
calibration_record calibration_record_from(const json_part& from);

}  // namespace graphline
