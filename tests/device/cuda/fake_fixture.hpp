#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/device/cuda/fake/fake_cuda.hpp"

namespace fake_cuda {

/// A fresh runtime for each test, and short ways to say what it is to do.
class fake_test : public testing::Test {
 protected:
  void SetUp() override { reset(); }
  void TearDown() override {
    for (const auto& g : gates_) g->store(true);
    reset();
  }

  static cudaStream_t make_stream(int priority = 0) {
    cudaStream_t s = nullptr;
    EXPECT_EQ(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, priority), cudaSuccess);
    return s;
  }

  static cudaEvent_t make_event(unsigned flags = cudaEventDefault) {
    cudaEvent_t e = nullptr;
    EXPECT_EQ(cudaEventCreateWithFlags(&e, flags), cudaSuccess);
    return e;
  }

  template <class T>
  static T* make_device(std::size_t count = 1) {
    void* data = nullptr;
    EXPECT_EQ(cudaMalloc(&data, count * sizeof(T)), cudaSuccess);
    return static_cast<T*>(data);
  }

  template <class T>
  static T* make_pinned(std::size_t count = 1) {
    void* data = nullptr;
    EXPECT_EQ(cudaHostAlloc(&data, count * sizeof(T), cudaHostAllocDefault), cudaSuccess);
    return static_cast<T*>(data);
  }

  static cudaError_t launch(cudaStream_t s, const std::string& name, std::function<void()> work,
                            std::vector<const void*> operands = {}) {
    const auto all = [work = std::move(work)] {
      work();
      return cudaSuccess;
    };
    return launch_kernel(s, name, all, std::move(operands));
  }

  static cudaError_t add(cudaStream_t s, int* to, int what = 1) {
    return launch(s, "add", [=] { *to += what; });
  }

  /// A kernel that ends when what is returned is set; at the latest when the test ends.
  std::shared_ptr<std::atomic<bool>> hold(cudaStream_t s) {
    auto open = gates_.emplace_back(std::make_shared<std::atomic<bool>>(false));
    const auto wait = [open] {
      while (!open->load()) std::this_thread::yield();
    };
    EXPECT_EQ(launch(s, "hold", wait), cudaSuccess);
    return open;
  }

 private:
  std::vector<std::shared_ptr<std::atomic<bool>>> gates_;
};

}  // namespace fake_cuda
