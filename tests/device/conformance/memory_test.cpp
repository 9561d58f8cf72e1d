// Memory: alignment, usage counters, and allocation failure.

#include <cstdint>

#include "framework/base/units.hpp"
#include "tests/device/conformance/fixture.hpp"

namespace graphline::conformance {
namespace {

class conformance_memory : public device_test {};

TEST_F(conformance_memory, is_aligned_to_256_bytes) {
  for (const std::size_t bytes : {1, 100, 257, 1 << 20}) {
    const memory m = dev().allocate(bytes);
    const memory pinned = dev().allocate_pinned(bytes);
    EXPECT_EQ(m.bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(m.data()) % 256, 0U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pinned.data()) % 256, 0U);
  }
}

TEST_F(conformance_memory, is_counted_with_its_peak) {
  const memory_usage before = dev().usage();
  {
    const memory a = dev().allocate(1000);
    memory b = dev().allocate(2000);
    const memory c = dev().allocate_pinned(300);
    EXPECT_EQ(dev().usage().device_bytes, before.device_bytes + 3000);
    EXPECT_EQ(dev().usage().pinned_bytes, before.pinned_bytes + 300);
    b = dev().allocate(500);
    EXPECT_EQ(dev().usage().device_bytes, before.device_bytes + 1500);
  }
  const memory_usage after = dev().usage();
  EXPECT_EQ(after.device_bytes, before.device_bytes);
  EXPECT_EQ(after.pinned_bytes, before.pinned_bytes);
  EXPECT_GE(after.device_peak_bytes, before.device_bytes + 3500);  // b's old and new block at once
  EXPECT_GE(after.pinned_peak_bytes, before.pinned_bytes + 300);
  EXPECT_EQ(after.allocations, before.allocations + 4);
}

TEST_F(conformance_memory, of_no_size_is_empty) {
  const memory m = dev().allocate(0);
  EXPECT_EQ(m.bytes(), 0U);
}

TEST_F(conformance_memory, that_cannot_fit_is_refused_with_both_sizes) {
  constexpr std::size_t absurd = std::size_t{1} << 50;
  const memory_usage before = dev().usage();
  expect_run_error([&] { static_cast<void>(dev().allocate(absurd)); }, format_bytes(absurd));
  expect_run_error([&] { static_cast<void>(dev().allocate(absurd)); }, "available");
  expect_run_error([&] { static_cast<void>(dev().allocate_pinned(absurd)); }, format_bytes(absurd));
  EXPECT_THROW(static_cast<void>(dev().allocate(SIZE_MAX)), run_error);
  EXPECT_EQ(dev().usage().device_bytes, before.device_bytes);
  EXPECT_EQ(dev().usage().allocations, before.allocations);
}

}  // namespace
}  // namespace graphline::conformance
