#pragma once

#include <string>

#include "framework/record/experiment_record.hpp"

namespace graphline {

/// The report of an experiment as one HTML file. Starts with `html_beginning`.
std::string experiment_html(const experiment_record& record);

}  // namespace graphline
