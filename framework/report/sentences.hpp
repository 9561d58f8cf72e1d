#pragma once

#include <string>
#include <vector>

#include "framework/analysis/finding.hpp"
#include "framework/analysis/gate.hpp"

namespace graphline::report {

/// Returns a finding as a sentence without initial capital and full stop. For a finding without a
/// key, which is a warning in a run's record, this is the text in its figure "text".
std::string sentence(const finding& of);

std::vector<std::string> sentences_of(const std::vector<finding>& list);

/// Returns "p99>20ms: FAILED, 23.4 ms" or "p99>20ms: cannot be judged: REASON".
std::string sentence(const gate_result& of);

}  // namespace graphline::report
