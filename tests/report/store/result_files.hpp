#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/base/temporary_folder.hpp"

namespace graphline::samples {

/// A test with a folder of its own for result files.
class result_files : public ::testing::Test {
 protected:
  /// Answers the path.
  std::string write(const std::string& name, const std::string& text) const {
    const auto path = folder_.path() / name;
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }

 private:
  temporary_folder folder_;
};

}  // namespace graphline::samples
