#pragma once

#include <string>

#include "framework/record/roofline_record.hpp"

namespace graphline {

/// A pipeline held against the roofline of its device, as one HTML file. Starts with
/// `html_beginning`.
std::string roofline_html(const roofline_record& record);

}  // namespace graphline
