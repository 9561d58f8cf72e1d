#pragma once

#include <string>

namespace graphline::samples {

/// Compares a report with tests/report/golden/NAME and fails the test where they differ. With
/// GRAPHLINE_UPDATE_GOLDEN=1 in the environment it writes the file instead: run the tests that way
/// after a wanted change and read the difference before committing it.
void expect_golden(const std::string& name, const std::string& text);

}  // namespace graphline::samples
