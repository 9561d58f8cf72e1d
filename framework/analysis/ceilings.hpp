#pragma once

#include <string>
#include <utility>
#include <vector>

#include "framework/record/calibration_record.hpp"

namespace graphline {

/// What is kept of a calibration: each ceiling at its median, 10th and 90th percentile time, by
/// nearest rank. A ceiling without samples is left out.
std::vector<ceiling_figure> figures_of(const calibration_record& record);

/// Why a calibration may no longer hold for a device as it is now, in words for people: each of
/// name, threads, driver, libraries, processor and version that differs ("oneDNN was 2.6.2, is
/// 2.6.3"), its age where that is above 90 days, and that it is from before writing was measured by
/// itself. Empty: it should.
std::vector<std::string> stale_reasons(
    const calibration_record& record, const device_properties& device,
    const std::vector<std::pair<std::string, std::string>>& environment);

}  // namespace graphline
