#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace graphline::samples {

/// Compares a report with tests/report/golden/NAME and fails the test where they differ. With
/// GRAPHLINE_UPDATE_GOLDEN=1 in the environment it writes the file instead: run the tests that way
/// after a wanted change and read the difference before committing it.
inline void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(GRAPHLINE_TEST_DIR) + "/golden/" + name;
  if (std::getenv("GRAPHLINE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path << " is missing; run with GRAPHLINE_UPDATE_GOLDEN=1 to make it";
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, expected) << "where this is wanted, run with GRAPHLINE_UPDATE_GOLDEN=1";
}

}  // namespace graphline::samples
