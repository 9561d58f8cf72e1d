#pragma once

#include <string>
#include <vector>

#include "framework/analysis/finding.hpp"
#include "framework/analysis/gate.hpp"

namespace graphline::report {

/// A finding as a sentence without initial capital and full stop. A finding without a key, such as
/// a warning in a run's record, has its sentence as the figure "text".
std::string sentence(const finding& of);

std::vector<std::string> sentences_of(const std::vector<finding>& list);

/// "p99>20ms: FAILED, 23.4 ms", "p99>20ms: cannot be judged: p99 needs 299 frames, the run has 45".
std::string sentence(const gate_result& of);

}  // namespace graphline::report
