#pragma once

#include <string>
#include <vector>

#include "framework/analysis/finding.hpp"
#include "framework/analysis/gate.hpp"

namespace graphline::report {

/// Returns a finding as a sentence without initial capital and period. A finding without a key is a
/// warning of a run's record; its figure "text" is returned.
std::string sentence(const finding& of);

std::vector<std::string> sentences_of(const std::vector<finding>& list);

/// Returns "p99>20ms: FAILED, 23.4 ms" or "p99>20ms: cannot be judged: REASON".
std::string sentence(const gate_result& of);

}  // namespace graphline::report
