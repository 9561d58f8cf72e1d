#pragma once

#include <nlohmann/json.hpp>
#include <set>

#include "framework/analysis/roofline/roofline.hpp"
#include "framework/record/roofline_record.hpp"

namespace graphline {

/// The precisions that work with FLOPs is carried out in.
std::set<precision> arithmetic_in_use(const roofline_summary& summary);

/// The figures at the top of the page of a roofline, as in `summary_data`: what frames take, what
/// the device stages take and could take at the least, the roofs, and the calibration's date.
nlohmann::ordered_json roofline_headline(const roofline_record& record,
                                         const roofline_summary& summary);

}  // namespace graphline
