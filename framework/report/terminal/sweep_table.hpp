#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/experiment/sweep.hpp"
#include "framework/report/terminal/look.hpp"

namespace graphline {

/// The cells of a sweep as every report shows them: a row for each value, without columns of which
/// nothing is known.
struct sweep_cells {
  std::vector<std::string> headings;
  std::vector<std::vector<std::string>> rows;
};
sweep_cells cells_of(const sweep& of);

/// "against kernel: device stages of the median frame".
std::string sweep_title(const sweep& of);

/// What the figures mean, in sentences.
std::vector<std::string> sweep_notes(const sweep& of);

/// Table and plot for a person at a terminal.
std::string sweep_section(const sweep& of, const look& as);

}  // namespace graphline
