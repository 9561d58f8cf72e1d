#pragma once

#include <string>
#include <utility>
#include <vector>

#include "framework/record/calibration_record.hpp"

namespace graphline {

/// What is kept of a calibration: each ceiling at its median, 10th and 90th percentile time, by
/// nearest rank. A ceiling without samples is left out.
std::vector<ceiling_figure> figures_of(const calibration_record& record);

/// Above this part of the median one, the spread of a ceiling's times is told.
inline constexpr double wide_spread = 0.1;

/// From the 10th percentile of a ceiling's times to the 90th, as a part of the median one.
double spread_of(const ceiling_figure& figure);

/// Bandwidths and rates with a wide spread, "memory, read (54 %)". Of the host's costs it is their
/// nature.
std::vector<std::string> wide_spreads(const std::vector<ceiling_figure>& figures);

/// Why a calibration may no longer hold for a device as it is now, in words for people: each of
/// name, threads, driver, libraries, processor and version that differs ("oneDNN was 2.6.2, is
/// 2.6.3"), its age where that is above 90 days, and that it is from before writing was measured by
/// itself. Empty: it should.
std::vector<std::string> stale_reasons(
    const calibration_record& record, const device_properties& device,
    const std::vector<std::pair<std::string, std::string>>& environment);

}  // namespace graphline
