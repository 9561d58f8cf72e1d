#pragma once

// Input files NAME.yaml with the complete expected output NAME.expected. After an intended change
// of a message, run the tests with GRAPHLINE_UPDATE_GOLDEN=1 and review the difference.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "tests/spec/reading.hpp"

namespace graphline {

/// The NAMEs of a folder.
inline std::vector<std::string> bad_files_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

/// Compares the output for a file with the expected one.
inline void expect_explained(const std::filesystem::path& folder, const std::string& name,
                             const std::string& said) {
  EXPECT_FALSE(said.empty());
  const auto expected = folder / (name + ".expected");
  if (std::getenv("GRAPHLINE_UPDATE_GOLDEN") != nullptr) std::ofstream(expected) << said << '\n';
  EXPECT_EQ(file_text(expected), said + "\n") << "expected text: " << expected;
}

/// Names a test after its file.
inline const auto name_of_bad_file = [](const auto& test) { return test.param; };

}  // namespace graphline
