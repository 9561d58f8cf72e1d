#pragma once

#include <string>

#include "framework/report/document.hpp"
#include "framework/report/render/terminal_style.hpp"

namespace graphline::report {

/// The lines of a sweep, drawn in characters: beside each other where
/// there is room, else one below the other. Axes are logarithmic where values span more than a
/// decade, and say so. Empty where there is too little room, or too little to draw.
std::string sweep_plot(const sweep_chart& of, const terminal_style& as);

}  // namespace graphline::report
