#pragma once

#include <string>

#include "framework/record/run_record.hpp"

namespace graphline {

/// The report of a run as one HTML file. Starts with `html_beginning`.
std::string run_html(const run_record& record);

}  // namespace graphline
