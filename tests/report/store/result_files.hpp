#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace graphline::samples {

/// A test with a folder of its own for result files.
class result_files : public ::testing::Test {
 public:
  ~result_files() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

 protected:
  result_files()
      : folder_(std::filesystem::temp_directory_path() /
                ("graphline_results_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }

  /// Answers the path.
  std::string write(const std::string& name, const std::string& text) const {
    const auto path = folder_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace graphline::samples
