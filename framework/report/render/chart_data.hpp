#pragma once

#include <nlohmann/json.hpp>

#include "framework/report/document.hpp"

namespace graphline::report {

/// A chart as the script of a page takes it: {"kind": "roofline", ...}.
nlohmann::ordered_json chart_data(const chart& of);

}  // namespace graphline::report
