// cuBLASLt's results and tuning on a GPU; skipped without one. gpu_test.cpp covers convolutions.

#include "stages/nn/cuda/cuda_library.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "framework/base/error.hpp"
#include "framework/device/cuda/cuda_device.hpp"
#include "tests/base/environment_guard.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/stages/nn/cuda/product_reference.hpp"

namespace graphline::nn {
namespace {

class cuda_libraries_test : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      device_ = open_cuda_device(0);
      stream_ = device_->make_stream("test", priority::normal);
    } catch (const run_error& e) {
      GTEST_SKIP() << e.what();
    }
  }

  std::unique_ptr<cuda_library> libraries(bool tune) {
    return open_cuda_libraries(*device_, tune, "stage 'test'");
  }

  /// Runs it on float32 operands and returns the output.
  numbers run(library_operation& operation, std::vector<numbers> operands) {
    std::vector<memory> device_memory;
    std::vector<memory> pinned;
    std::vector<void*> pointers;
    for (const numbers& operand : operands) {
      const std::size_t bytes = operand.size() * sizeof(float);
      pinned.push_back(device_->allocate_pinned(bytes));
      device_memory.push_back(device_->allocate(bytes));
      std::memcpy(pinned.back().data(), operand.data(), bytes);
      stream_->copy(device_memory.back().data(), pinned.back().data(), bytes);
      pointers.push_back(device_memory.back().data());
    }
    memory workspace;
    if (operation.workspace_bytes() > 0) {
      workspace = device_->allocate(operation.workspace_bytes());
    }
    operation.enqueue(stream_->native(), pointers, workspace.data());
    numbers& result = operands.back();
    const std::size_t bytes = result.size() * sizeof(float);
    stream_->copy(pinned.back().data(), pointers.back(), bytes);
    device_->synchronize(wait_mode::block);
    std::memcpy(result.data(), pinned.back().data(), bytes);
    return result;
  }

  std::unique_ptr<device> device_;
  std::unique_ptr<stream> stream_;
};

TEST_F(cuda_libraries_test, multiply_as_the_form_says) {
  const auto library = libraries(false);
  for (const precision p : {precision::float32, precision::tf32}) {
    for (product_form form : sample_products()) {
      form.precision = p;
      std::string why_not;
      const auto operation = library->plan(form, why_not);
      ASSERT_NE(operation, nullptr) << to_text(form) << ": " << why_not;
      const std::vector<numbers> operands = whole_operands(operand_bytes(form));
      EXPECT_EQ(run(*operation, operands), expected_product(form, operands))
          << to_text(form) << " by " << operation->choice();
    }
  }
}

TEST_F(cuda_libraries_test, give_the_same_bits_again_and_tune_only_once) {
  const temporary_folder folder;
  const environment_guard cache("GRAPHLINE_CACHE", folder.path().string());
  product_form form = packed_product(32, 512, 2048);
  form.bias = true;
  std::string why_not;
  const auto first = libraries(true)->plan(form, why_not);
  ASSERT_NE(first, nullptr) << why_not;
  const auto second = libraries(true)->plan(form, why_not);
  ASSERT_NE(second, nullptr) << why_not;
  EXPECT_THAT(first->choice(), ::testing::HasSubstr("when tuned"));
  EXPECT_EQ(second->choice(), first->choice()) << "the time is the one that was remembered";
  const std::vector<numbers> operands = whole_operands(operand_bytes(form));
  EXPECT_EQ(run(*first, operands), run(*second, operands));
}

}  // namespace
}  // namespace graphline::nn
