#pragma once

#include <string>

#include "framework/analysis/diff/result_diff.hpp"
#include "framework/analysis/diff/saved_result.hpp"

namespace graphline {

/// Reads a result file of at most 1 GiB: `graphline.run/1`, `graphline.experiment/1`,
/// `graphline.calibration/1` or `graphline.roofline/1`. Throws an `input_error` that names the file
/// and says what is wrong with it: line and column where it is no JSON, what it is where it is
/// something else, which key is missing or holds something else than it should.
saved_result read_result(const std::string& path);

/// Reads two that can be compared, of the same kind. Throws an `input_error` also where they are of
/// different kinds.
before_after<saved_result> read_results(const std::string& before, const std::string& after);

}  // namespace graphline
