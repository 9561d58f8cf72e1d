#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "framework/base/error.hpp"
#include "stages/cuda/cudnn_graph.hpp"

namespace graphline {

inline constexpr precision every_precision[] = {precision::float32, precision::tf32,
                                                precision::float16, precision::bfloat16};

/// cuDNN's answers for GPUs that need not be there: those of the folder devices. Skipped where
/// there is no cuDNN.
class cudnn_devices : public testing::Test {
 protected:
  void SetUp() override {
    if (!load_driver()) GTEST_SKIP() << "there is neither libcuda.so.1 nor the toolkit's stub";
    try {
      cudnn_version();
    } catch (const run_error& e) {
      GTEST_SKIP() << e.what();
    }
  }

  static std::string properties(const std::string& device) {
    std::ifstream file(std::string(GRAPHLINE_CUDNN_DEVICES "/") + device + ".json");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static std::vector<cudnn_candidate> offered(const convolution_form& form,
                                              const std::string& device) {
    std::string why_not;
    std::vector<cudnn_candidate> candidates = offered_candidates(form, properties(device), why_not);
    EXPECT_EQ(candidates.empty(), !why_not.empty());
    return candidates;
  }

 private:
  /// cuDNN asks the driver's library for nothing but to be there, which the toolkit's stub is too:
  /// once loaded under any path, it is found by its name.
  static bool load_driver() {
    return dlopen("libcuda.so.1", RTLD_NOW) != nullptr ||
           dlopen(GRAPHLINE_CUDA_DRIVER_LIBRARY, RTLD_NOW) != nullptr;
  }
};

}  // namespace graphline
