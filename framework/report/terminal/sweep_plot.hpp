#pragma once

#include <string>

#include "framework/analysis/experiment/sweep.hpp"
#include "framework/report/terminal/look.hpp"

namespace graphline {

/// Intensity and time against the swept parameter, drawn in characters: beside each other where
/// there is room, else one below the other. Axes are logarithmic where values span more than a
/// decade, and say so. Empty where there is too little room, or too little to draw.
std::string sweep_plot(const sweep& of, const look& as);

}  // namespace graphline
