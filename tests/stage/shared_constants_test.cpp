#include "framework/stage/shared_constants.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>

#include "framework/device/host/host_device.hpp"

namespace graphline {
namespace {

using bytes = std::vector<std::byte>;

bytes some_bytes(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  bytes values(count);
  for (std::byte& value : values) value = static_cast<std::byte>(generator());
  return values;
}

bool holds(const std::byte* address, const bytes& expected) {
  return std::equal(expected.begin(), expected.end(), address);
}

class shared_constants_test : public testing::Test {
 protected:
  std::vector<std::byte*> keep(const std::vector<bytes>& contents) {
    return shared_.keep({contents.begin(), contents.end()});
  }

  std::unique_ptr<device> device_ = open_host_device(1);
  shared_constants shared_{*device_};
};

TEST_F(shared_constants_test, copies_equal_contents_once) {
  const std::vector<bytes> first{some_bytes(1000, 1), some_bytes(7, 2), some_bytes(1000, 1)};
  const auto found = keep(first);
  const memory_usage once = device_->usage();
  EXPECT_EQ(once.device_bytes, 1024U + 256U);
  EXPECT_EQ(found[0], found[2]);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(holds(found[i], first[i]));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(found[i]) % 256, 0U);
  }
  EXPECT_EQ(keep({first[1], first[0]}), (std::vector{found[1], found[0]}));
  EXPECT_EQ(device_->usage().allocations, once.allocations);

  const std::vector<bytes> more{first[0], some_bytes(300, 3), some_bytes(400, 4)};
  const auto added = keep(more);
  EXPECT_EQ(added[0], found[0]);
  EXPECT_TRUE(holds(added[1], more[1]) && holds(added[2], more[2]));
  EXPECT_EQ(device_->usage().allocations, once.allocations + 1);
  EXPECT_EQ(device_->usage().device_bytes, once.device_bytes + 512U + 512U);
}

TEST_F(shared_constants_test, tells_contents_apart_by_each_byte_and_by_size) {
  for (const std::size_t size : {1, 8, 13, 40}) {
    std::vector<bytes> contents{bytes(size)};
    contents.emplace_back(size + 1);  // zeros, too
    for (std::size_t at = 0; at < size; ++at) {
      contents.emplace_back(size)[at] = std::byte{1};
      contents.emplace_back(size)[at] = std::byte{0x80};
    }
    const auto found = keep(contents);
    for (std::size_t i = 0; i < contents.size(); ++i) {
      EXPECT_TRUE(holds(found[i], contents[i])) << size << ", " << i;
      EXPECT_EQ(std::ranges::count(found, found[i]), 1) << size << ", " << i;
    }
  }
}

}  // namespace
}  // namespace graphline
