#pragma once

#include <string>

#include "framework/plan/cost_summary.hpp"

namespace graphline {

/// A row for each stage, one for each of its layers after it, and a last one for the pipeline:
/// `level` says which. Figures are whole numbers, FLOPs for each byte apart; what is not known is
/// an empty field. Several outputs of a stage stand in one field, "; " between. Quoted as in RFC
/// 4180, lines end in LF; UTF-8, with U+FFFD for bytes of names that are not.
std::string inspect_csv(const cost_summary& summary);

}  // namespace graphline
