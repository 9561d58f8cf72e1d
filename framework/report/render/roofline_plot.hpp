#pragma once

#include <string>

#include "framework/report/document.hpp"
#include "framework/report/render/terminal_style.hpp"

namespace graphline::report {

/// A roofline in characters, capital letters for stages and small ones for parts, with a legend;
/// names below it what has no place in it. Empty without points.
std::string roofline_plot(const roofline_chart& of, const terminal_style& as);

}  // namespace graphline::report
