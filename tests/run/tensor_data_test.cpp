#include "framework/run/execute/tensor_data.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "framework/base/error.hpp"
#include "tests/base/guarded.hpp"

namespace graphline {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::IsEmpty;

template <class T>
output_record describe(dtype type, const std::vector<T>& values) {
  return describe_output("y", {shape{static_cast<std::int64_t>(values.size())}, type},
                         std::as_bytes(std::span(values)));
}

TEST(output_description, keeps_all_elements_of_a_small_tensor) {
  EXPECT_THAT(describe<float>(dtype::float32, {1.5F, -2.0F}).values, ElementsAre(1.5, -2));
  EXPECT_THAT(describe<double>(dtype::float64, {1e300}).values, ElementsAre(1e300));
  EXPECT_THAT(describe<std::int64_t>(dtype::int64, {-7, 1LL << 40}).values,
              ElementsAre(-7, 1099511627776));
  EXPECT_THAT(describe<std::int32_t>(dtype::int32, {-7}).values, ElementsAre(-7));
  EXPECT_THAT(describe<std::uint8_t>(dtype::uint8, {0, 255}).values, ElementsAre(0, 255));
  EXPECT_THAT(describe<float>(dtype::float32, {}).values, IsEmpty());
}

TEST(output_description, reads_nothing_beside_the_tensor) {
  for (const std::size_t count : {1U, 7U, 8U, 9U, 300U}) {
    const std::vector<std::uint8_t> numbers(count, 7);
    const auto expected = describe(dtype::uint8, numbers);
    for (const test::guard at : test::guards) {
      const test::guarded<std::uint8_t> tensor(numbers, at);
      const auto found = describe_output("y", expected.type, std::as_bytes(tensor.span()));
      EXPECT_EQ(found.checksum, expected.checksum) << count;
      EXPECT_EQ(found.values, expected.values) << count;
    }
  }
}

TEST(output_description, converts_half_precision) {
  // 1, -2, 65504, the least subnormal, the least normal, 0.333251953125
  EXPECT_THAT(
      describe<std::uint16_t>(dtype::float16, {0x3c00, 0xc000, 0x7bff, 0x0001, 0x0400, 0x3555})
          .values,
      ElementsAre(1, -2, 65504, DoubleEq(std::ldexp(1, -24)), DoubleEq(std::ldexp(1, -14)),
                  0.333251953125));
  const auto special = describe<std::uint16_t>(dtype::float16, {0x7c00, 0xfc00, 0x7e00, 0x8000});
  EXPECT_EQ(special.values[0], std::numeric_limits<double>::infinity());
  EXPECT_EQ(special.values[1], -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(special.values[2]));
  EXPECT_TRUE(special.values[3] == 0 && std::signbit(special.values[3]));
  EXPECT_THAT(describe<std::uint16_t>(dtype::bfloat16, {0x3f80, 0xc040}).values,
              ElementsAre(1, -3));
}

TEST(output_description, spaces_the_elements_of_a_large_tensor_evenly_from_the_first) {
  std::vector<std::int32_t> numbers(1000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int32_t>(i);
  const auto values = describe(dtype::int32, numbers).values;
  ASSERT_EQ(values.size(), most_output_values);
  EXPECT_EQ(values[0], 0);
  EXPECT_EQ(values[1], 3);  // of 3.90625
  EXPECT_EQ(values[128], 500);
  EXPECT_EQ(values[255], 996);  // of 996.09375
}

TEST(output_description, says_whether_all_of_it_is_finite) {
  std::vector<float> numbers(1000, 1.0F);
  EXPECT_TRUE(describe(dtype::float32, numbers).finite);
  numbers[1] = std::numeric_limits<float>::quiet_NaN();  // not among the elements that are kept
  EXPECT_FALSE(describe(dtype::float32, numbers).finite);
  // The greatest number, then infinity and a NaN, of either sign.
  EXPECT_TRUE(describe<std::uint16_t>(dtype::float16, {0x7bff, 0xfbff}).finite);
  EXPECT_FALSE(describe<std::uint16_t>(dtype::float16, {0x3c00, 0xfc00}).finite);
  EXPECT_FALSE(describe<std::uint16_t>(dtype::float16, {0x3c00, 0x7e00}).finite);
  EXPECT_TRUE(describe<std::uint16_t>(dtype::bfloat16, {0x7f7f, 0xff7f}).finite);
  EXPECT_FALSE(describe<std::uint16_t>(dtype::bfloat16, {0x3f80, 0x7f80}).finite);
  EXPECT_FALSE(describe<std::uint16_t>(dtype::bfloat16, {0x3f80, 0xffc0}).finite);
}

std::string written(const tensor_type& type, const std::vector<std::byte>& data) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("graphline_npy_" + std::to_string(::getpid()) + ".npy");
  write_npy(path, type, data);
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove(path);
  return bytes;
}

TEST(npy, starts_the_data_at_a_multiple_of_64_behind_a_version_1_header) {
  const auto bytes = written({shape{2, 3}, dtype::float32}, std::vector<std::byte>(24));
  ASSERT_GT(bytes.size(), 24U);
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ((bytes.size() - 24) % 64, 0U);
  const std::size_t length =
      static_cast<unsigned char>(bytes[8]) + 256U * static_cast<unsigned char>(bytes[9]);
  EXPECT_EQ(10 + length + 24, bytes.size());
  EXPECT_EQ(bytes[9 + length], '\n');
  EXPECT_NE(bytes.find("'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, )"),
            std::string::npos);
}

TEST(npy, writes_a_scalar_with_an_empty_shape) {
  const auto bytes = written({shape{}, dtype::int64}, std::vector<std::byte>(8));
  EXPECT_NE(bytes.find("'descr': '<i8', 'fortran_order': False, 'shape': (), "), std::string::npos);
}

TEST(npy, names_the_path_when_it_cannot_write) {
  try {
    write_npy("/nonexistent/folder/x.npy", {shape{1}, dtype::uint8}, std::vector<std::byte>(1));
    FAIL() << "expected an error";
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("/nonexistent/folder/x.npy"), std::string::npos);
    EXPECT_EQ(e.status(), exit_status::run_failed);
  }
}

}  // namespace
}  // namespace graphline
