#include "framework/run/execute/tensor_data.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/file/npy_file.hpp"
#include "framework/base/utf8.hpp"
#include "tests/base/guarded.hpp"
#include "tests/base/temporary_folder.hpp"

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

TEST(tensor_file_names, are_the_parts_where_they_can_be) {
  tensor_file_names names;
  EXPECT_EQ(names.next({"weight", "net", "0.bias"}), "weight.net.0.bias.npy");
  EXPECT_EQ(names.next({"output", std::string(223, 'x')}),
            "output." + std::string(223, 'x') + ".npy");
}

TEST(tensor_file_names, are_short_enough_each_another_and_the_same_in_every_run) {
  const std::vector<std::vector<std::string>> all = {
      {"weight", "a", "b.c"},
      {"weight", "a.b", "c"},
      {"weight", "net", std::string(300, 'x')},
      {"weight", "net", std::string(300, 'x') + "y"},
      {"weight", std::string(400, 'n'), "w"},
      {"weight", "net", std::string(205, 'a') + "\u3042\u3042\u3042\u3042\u3042\u3042\u3042"},
      {"output", "a/b"},
      {"output", "a_b"},
      {"output", "../b"},
      {"output", std::string(230, '/')}};
  tensor_file_names names;
  tensor_file_names again;
  std::set<std::string> seen;
  for (const auto& parts : all) {
    const auto name = names.next(parts);
    EXPECT_EQ(again.next(parts), name);
    EXPECT_LE(name.size(), 240U);
    EXPECT_EQ(name.find('/'), std::string::npos) << name;
    EXPECT_FALSE(first_invalid_utf8(name)) << name;
    EXPECT_TRUE(seen.insert(name).second) << name;
  }
}

/// Compares numbers with those of a reference file.
output_record compare(const std::vector<float>& values, const std::vector<double>& reference) {
  const temporary_folder folder;
  const tensor_type type{shape{static_cast<std::int64_t>(reference.size())}, dtype::float64};
  write_npy(folder.path() / "y.npy", type, std::as_bytes(std::span(reference)));
  auto output = describe(dtype::float32, values);
  compare_with_reference(output, output.type, std::as_bytes(std::span(values)),
                         reference_file(folder.path().string(), "y"));
  return output;
}

TEST(reference, gives_the_largest_difference_and_its_part_of_the_largest_value) {
  const auto found = compare({1, -8, 3}, {1, -8.5, 2.75});
  EXPECT_EQ(found.error, 0.5);
  EXPECT_EQ(found.relative_error, 0.5 / 8.5);
  EXPECT_EQ(compare({0.25F, 0}, {0, 0}).relative_error, 0.25);
}

TEST(reference, tells_numbers_from_others) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::nan("");
  const auto same = compare({std::nanf(""), HUGE_VALF, 2}, {nan, infinity, 2});
  EXPECT_EQ(same.error, 0);
  EXPECT_EQ(same.relative_error, 0);
  EXPECT_EQ(compare({1, 1}, {nan, 0}).relative_error, most_error);
  EXPECT_EQ(compare({HUGE_VALF, 1}, {-infinity, 1}).error, most_error);
}

TEST(reference, is_refused_if_missing_or_of_another_shape) {
  const temporary_folder folder;
  const auto refusal = [&] {
    try {
      require_shape(npy_file(reference_file(folder.path().string(), "y")), "y", shape{3});
    } catch (const input_error& problem) {
      return std::string(problem.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal(), fmt::format("output 'y' has no reference: neither '{}' nor '{}' exists",
                                   folder / "output.y.npy", folder / "y.npy"));
  const std::vector<float> four(4);
  write_npy(folder.path() / "y.npy", {shape{4}, dtype::float32}, std::as_bytes(std::span(four)));
  EXPECT_EQ(refusal(),
            fmt::format("reference '{}' has the shape [4]; output 'y' has [3]", folder / "y.npy"));
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

TEST(input, is_read_from_a_file_of_its_type_only) {
  const temporary_folder folder;
  const std::vector<float> numbers = {1.5F, -2, 3};
  write_npy(folder / "x.npy", {{3}, dtype::float32}, std::as_bytes(std::span(numbers)));
  std::vector<float> read(3);
  read_input({read.data(), {{3}, dtype::float32}}, folder / "x.npy");
  EXPECT_EQ(read, numbers);
  EXPECT_THAT(
      [&] {
        read_input({read.data(), {{1, 3}, dtype::float32}}, folder / "x.npy");
      },
      testing::ThrowsMessage<input_error>(
          testing::HasSubstr("x.npy' holds float32 [3]; the plan expects float32 [1, 3]")));
}

}  // namespace
}  // namespace graphline
