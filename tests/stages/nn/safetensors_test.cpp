#include "stages/nn/weights/safetensors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <tuple>
#include <utility>

#include "framework/base/error.hpp"
#include "stages/nn/weights/float_conversion.hpp"
#include "tests/base/guarded.hpp"

namespace graphline::nn {

namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A temporary file.
class safetensors : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  void write(const std::string& header, std::size_t data_bytes) {
    std::string length(8, '\0');
    for (std::size_t i = 0; i < 8; ++i) {
      length[i] = static_cast<char>(header.size() >> (8 * i) & 0xff);
    }
    write_raw(length + header + std::string(data_bytes, '\1'));
  }

  void write_raw(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }

  /// The error of opening the file or reading a tensor.
  std::string problem(const std::string& tensor = "", const shape& expected = {}) {
    try {
      safetensors_file file(path_);
      if (!tensor.empty()) file.read_float32(tensor, expected);
    } catch (const input_error& e) {
      EXPECT_THAT(e.what(), HasSubstr(path_));
      return e.what();
    }
    return "none";
  }

  std::string path_ = testing::TempDir() + "/" +
                      testing::UnitTest::GetInstance()->current_test_info()->name() +
                      ".safetensors";
};

TEST_F(safetensors, reads_a_sound_file) {
  write(R"({"__metadata__":{"by":"a test"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
        R"("b":{"dtype":"I64","shape":[],"data_offsets":[8,16]}})",
        16);
  EXPECT_EQ(problem("a", {2}), "none");
  EXPECT_EQ(safetensors_file(path_).entries().size(), 2U);
}

TEST_F(safetensors, refuses_a_missing_tensor_and_suggests_a_near_one) {
  write(R"({"weight":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8);
  EXPECT_THAT(problem("weigth", {2}),
              AllOf(HasSubstr("has no tensor 'weigth'"), HasSubstr("did you mean 'weight'?")));
}

TEST_F(safetensors, refuses_another_shape_or_type) {
  write(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
        R"("n":{"dtype":"I32","shape":[2],"data_offsets":[8,16]}})",
        16);
  EXPECT_THAT(problem("a", {1, 2}), HasSubstr("'a': expected F32 [1, 2], found F32 [2]"));
  EXPECT_THAT(problem("n", {2}),
              HasSubstr("'n': expected F32 (or F16, BF16, F64) [2], found I32 [2]"));
}

std::string one_tensor(const std::string& shape, const std::string& offsets) {
  return R"({"a":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

TEST_F(safetensors, refuses_headers_that_are_not_exact) {
  const std::string first = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)";
  const std::tuple<std::string, std::size_t, const char*> headers[] = {
      {one_tensor("[2]", "[0,8]"), 7, "is truncated: it ends before tensor 'a' does"},
      {first + R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8,
       "has two tensors named 'a'"},
      {one_tensor("[3]", "[0,8]"), 8, "tensor 'a' needs exactly"},
      {one_tensor("[2]", "[8,0]"), 8, "tensor 'a' needs exactly"},
      {one_tensor("[4294967296,4294967296]", "[0,0]"), 0, "tensor 'a' needs exactly"},
      {one_tensor("[-2]", "[0,8]"), 8, "tensor 'a' needs exactly"},
      {one_tensor("[2]", "[0,8,8]"), 8, "tensor 'a' needs exactly"},
      {R"({"a":{"dtype":"F31","shape":[2],"data_offsets":[0,8]}})", 8, "tensor 'a' needs exactly"},
      {R"({"a":{"dtype":"F32","shape":[2]}})", 8, "tensor 'a' needs exactly"},
      {"{\"a\":", 0, "its header is not JSON"},
      {"[1]", 0, "is not a safetensors file"}};
  for (const auto& [header, data_bytes, expected] : headers) {
    write(header, data_bytes);
    EXPECT_THAT(problem(), HasSubstr(expected)) << header;
  }
  write_raw("version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 9\n");
  EXPECT_THAT(problem(), HasSubstr("is a Git LFS pointer, not the file: run git lfs pull"));
  write_raw(std::string("\x40\0\0\0\0\0\0\0{}", 10));
  EXPECT_THAT(problem(), HasSubstr("is truncated"));
  write_raw(std::string(8, '\xff') + "{}");
  EXPECT_THAT(problem(), HasSubstr("is not a safetensors file"));
}

TEST_F(safetensors, refuses_headers_that_would_take_memory_or_messages_without_bound) {
  constexpr const char* deep = "lists and objects are nested more than 64 deep";
  write(R"({"a":)" + std::string(10'000'000, '['), 0);
  EXPECT_THAT(problem(), HasSubstr(deep));
  write(R"({"a":{"dtype":)" + std::string(100, '[') + "1" + std::string(100, ']') + "}}", 0);
  EXPECT_THAT(problem(), HasSubstr(deep));
  std::string ones = "1";
  for (int i = 0; i < 5000; ++i) ones += ",1";
  write(R"({"a":{"dtype":"F32","shape":[)" + ones + R"(],"data_offsets":[0,4]}})", 4);
  EXPECT_THAT(problem(), HasSubstr("tensor 'a' needs exactly"));
  write(R"({"a":{"dtype":")" + std::string(100'000, 'F') + R"(","shape":[],"data_offsets":[0,4]}})",
        4);
  EXPECT_LT(problem().size(), 1000U);
}

TEST_F(safetensors, refuses_a_file_that_is_not_there_and_suggests_a_near_one) {
  EXPECT_THAT(problem(), HasSubstr("does not exist"));
  const std::string near = path_ + "x";
  std::ofstream(near) << "x";
  EXPECT_THAT(problem(),
              AllOf(HasSubstr("does not exist (did you mean '"), HasSubstr(".safetensorsx'?)")));
  std::filesystem::remove(near);
}

TEST_F(safetensors, refuses_a_pipe_without_blocking) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);  // opening it would wait for a writer
  EXPECT_THAT(problem(), HasSubstr("is not a regular file"));
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_THAT(problem(), HasSubstr("is not a regular file"));
}

TEST_F(safetensors, says_what_to_do_with_a_file_of_another_format) {
  const std::string zeros(26, '\0');
  for (const std::string& content :
       {"PK\x03\x04" + zeros + "model/data.pklFB",
        std::string("\x08\x07\x12\x07pytorch\x1a\x05") + zeros,
        "<!DOCTYPE html><html></html>" + zeros, std::string("abc"), std::string()}) {
    write_raw(content);
    EXPECT_THAT(problem(), HasSubstr("is not a safetensors file; write the tensors"));
  }
}

TEST(safetensors_types, are_converted_to_float32) {
  safetensors_file file(std::string(GRAPHLINE_SOURCE_DIR) +
                        "/tests/stages/references/types.safetensors");
  for (const char* type : {"F16", "BF16", "F32", "F64"}) {
    const shape size = file.entries().find(type)->second.shape;
    ASSERT_EQ(size.elements(), 18);
    EXPECT_EQ(file.read_float32(type, size),
              file.read_float32(type + std::string(".expected"), size))
        << type;
  }
}

TEST(safetensors_types, keep_infinities_nans_and_subnormals_of_half) {
  EXPECT_EQ(float_from_half(0x7c00), std::numeric_limits<float>::infinity());
  EXPECT_EQ(float_from_half(0xfc00), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(float_from_half(0x7e00)));
  EXPECT_EQ(float_from_half(0x0001), 0x1p-24F);
  EXPECT_EQ(float_from_half(0x8001), -0x1p-24F);
  EXPECT_EQ(float_from_half(0x03ff), 0x3ffp-24F);
  EXPECT_EQ(float_from_half(0x0400), 0x1p-14F);
  EXPECT_EQ(float_from_half(0x7bff), 65504.0F);
  EXPECT_TRUE(std::signbit(float_from_half(0x8000)));
}

TEST(float_conversion, round_trips_every_half_and_bfloat16) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto narrow = static_cast<std::uint16_t>(bits);
    const float half = float_from_half(narrow);
    const float bfloat16 = float_from_bfloat16(narrow);
    if (!std::isnan(half)) {
      EXPECT_EQ(half_from_float(half), narrow);
    } else {
      EXPECT_TRUE(std::isnan(float_from_half(half_from_float(half))));
    }
    if (!std::isnan(bfloat16)) {
      EXPECT_EQ(bfloat16_from_float(bfloat16), narrow);
    } else {
      EXPECT_TRUE(std::isnan(float_from_bfloat16(bfloat16_from_float(bfloat16))));
    }
  }
}

TEST(float_conversion, rounds_to_nearest_even) {
  EXPECT_EQ(half_from_float(1.0F + 0x1p-11F), 0x3c00);      // halfway, down to even
  EXPECT_EQ(half_from_float(1.0F + 3 * 0x1p-11F), 0x3c02);  // halfway, up to even
  EXPECT_EQ(half_from_float(1.0F + 0x1p-11F + 0x1p-20F), 0x3c01);
  EXPECT_EQ(half_from_float(0x1p-25F), 0x0000);  // halfway to the least subnormal
  EXPECT_EQ(half_from_float(0x1.8p-25F), 0x0001);
  EXPECT_EQ(half_from_float(-0x1p-24F), 0x8001);
  EXPECT_EQ(half_from_float(65519.0F), 0x7bff);
  EXPECT_EQ(half_from_float(65520.0F), 0x7c00);
  EXPECT_EQ(bfloat16_from_float(1.0F + 0x1p-8F), 0x3f80);
  EXPECT_EQ(bfloat16_from_float(1.0F + 3 * 0x1p-8F), 0x3f82);
  EXPECT_EQ(bfloat16_from_float(std::numeric_limits<float>::max()), 0x7f80);
}

TEST(float_conversion, touches_nothing_beside_its_operands) {
  for (const auto& [element, size] : {std::pair("F16", 2), {"BF16", 2}, {"F32", 4}, {"F64", 8}}) {
    for (const std::size_t count : {1U, 3U, 7U, 8U, 17U, 1003U}) {
      for (const test::guard at : test::guards) {
        const test::guarded<std::byte> from(count * static_cast<std::size_t>(size), at);
        std::memset(from.data(), 0, from.span().size());
        const test::guarded<float> to(count, at);
        float_conversion(element)(from.data(), to.span());
        EXPECT_EQ(to.values(), std::vector<float>(count, 0.0F)) << element;
        EXPECT_TRUE(to.alone()) << element;
      }
    }
  }
}

}  // namespace

}  // namespace graphline::nn
