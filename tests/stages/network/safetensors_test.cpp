#include "stages/weights/safetensors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <utility>

#include "framework/base/error.hpp"
#include "stages/weights/float_conversion.hpp"
#include "tests/base/guarded.hpp"

namespace graphline {

namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A file that is gone at the end of the test.
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

  /// What is said about the file when it is opened, or about a tensor when it is read.
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

TEST_F(safetensors, refuses_a_truncated_file) {
  const std::string header = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  write(header, 7);
  EXPECT_THAT(problem(), HasSubstr("is truncated: its tensors take 8 bytes, the file holds 7"));
  write_raw(std::string("\x40\0\0\0\0\0\0\0{}", 10));
  EXPECT_THAT(problem(), HasSubstr("is truncated: the header has 64 bytes, the file only 2"));
  write_raw("abc");
  EXPECT_THAT(problem(), HasSubstr("it has 3 bytes"));
}

TEST_F(safetensors, refuses_what_follows_the_last_tensor) {
  write(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 9);
  EXPECT_THAT(problem(), HasSubstr("1 bytes follow its last tensor"));
}

TEST_F(safetensors, refuses_overlaps_and_gaps) {
  write(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
        R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
        12);
  EXPECT_THAT(problem(), HasSubstr("tensor 'b' starts at byte 4 of the data, inside another"));
  write(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
        R"("b":{"dtype":"F32","shape":[1],"data_offsets":[12,16]}})",
        16);
  EXPECT_THAT(problem(), HasSubstr("starts at byte 12 of the data, leaving a gap after byte 8"));
}

TEST_F(safetensors, refuses_offsets_that_do_not_hold_the_shape) {
  write(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8);
  EXPECT_THAT(problem(), HasSubstr("data_offsets [0, 8], which do not hold F32 [3]"));
  write(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8);
  EXPECT_THAT(problem(), HasSubstr("data_offsets [8, 0]"));
  write(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0);
  EXPECT_THAT(problem(), HasSubstr("do not hold"));
}

TEST_F(safetensors, refuses_headers_that_are_not_exact) {
  write("[1]", 0);
  EXPECT_THAT(problem(), HasSubstr("its header is no JSON object"));
  write("{\"a\":", 0);
  EXPECT_THAT(problem(), HasSubstr("its header is no JSON object"));
  write(R"({"a":{"dtype":"F31","shape":[2],"data_offsets":[0,8]}})", 8);
  EXPECT_THAT(problem(), HasSubstr("tensor 'a' has the unknown dtype \"F31\""));
  write(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8);
  EXPECT_THAT(problem(), HasSubstr("has -2 in its shape"));
  write(R"({"a":{"dtype":"F32","shape":[2]}})", 8);
  EXPECT_THAT(problem(), HasSubstr("exactly 'dtype', 'shape' and 'data_offsets'"));
  write(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
        R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
        4);
  EXPECT_THAT(problem(), HasSubstr("has two tensors named 'a'"));
  write_raw(std::string(8, '\xff') + "{}");
  EXPECT_THAT(problem(), HasSubstr("is no safetensors file: it states a header of"));
}

TEST_F(safetensors, refuses_headers_that_would_take_memory_or_messages_without_bound) {
  constexpr const char* deep = "lists and objects are nested more than 64 deep";
  write(std::string(10'000'000, '['), 0);
  EXPECT_THAT(problem(), HasSubstr(deep));
  write(R"({"a":{"dtype":)" + std::string(100, '[') + "1" + std::string(100, ']') + "}}", 0);
  EXPECT_THAT(problem(), HasSubstr(deep));
  std::string ones = "1";
  for (int i = 0; i < 5000; ++i) ones += ",1";
  write(R"({"a":{"dtype":"F32","shape":[)" + ones + R"(],"data_offsets":[0,4]}})", 4);
  EXPECT_THAT(problem(), HasSubstr("has 5001 dimensions"));
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

TEST_F(safetensors, refuses_what_is_no_file_without_waiting_for_it) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);  // opening it would wait for a writer
  EXPECT_THAT(problem(), HasSubstr("is not a regular file"));
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_THAT(problem(), HasSubstr("is a folder"));
}

/// A field of an ONNX ModelProto or a ZIP header, whose zeros a literal would end at.
std::string bytes(const std::string& begin, std::size_t zeros, const std::string& end) {
  return begin + std::string(zeros, '\0') + end;
}

TEST_F(safetensors, names_files_of_other_formats) {
  const std::pair<std::string, const char*> others[] = {
      {bytes("\x93NUMPY\x01", 1, "v") + bytes("", 1, "{'descr': '<f4'}"), "is a NumPy file, not a"},
      // PyTorch's exporter and ONNX's own helper: ir_version, then producer_name or the graph.
      {"\x08\x07\x12\x07pytorch\x1a\x05"
       "2.1.0",
       "is an ONNX model"},
      {"\x08\x0a\x3a\x20\x0a\x05"
       "graph",
       "is an ONNX model"},
      {bytes("PK\x03\x04", 26, "model/data.pklFB"), "is a ZIP archive, as PyTorch"},
      {"\xff\xd8\xff\xe0" + bytes("", 1, "\x10JFIF"), "is a JPEG picture, not a safetensors"},
      {"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", "is a pickle, as PyTorch"},
      {"\x80\x04\x95\x10" + bytes("", 7, "}."), "is a pickle, not a"},
      {"\x80\x05\x95\x10" + bytes("", 7, "}."), "is a pickle, not a"},
      {"\x89PNG\r\n\x1a\n" + bytes("", 3, "\rIHDR"), "is a PNG picture, not a safetensors"},
      {"\x89HDF\r\n\x1a\n" + bytes("", 12, "8"), "is an HDF5 file, not a safetensors"},
      {bytes("GGUF\x03", 3, "t") + bytes("", 12, "v"), "is a GGUF file, not a safetensors"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "'git lfs pull'"},
      {"<!DOCTYPE html><html></html>", "is an HTML page"},
      {"just some words", "is no safetensors file"},
      {"", "it has 0 bytes"},
  };
  for (const auto& [content, expected] : others) {
    write_raw(content);
    EXPECT_THAT(problem(), HasSubstr(expected));
    write_raw(content + std::string(10'000, '\0'));
    if (content.size() > 20) {
      EXPECT_THAT(problem(), HasSubstr(expected));
    }
  }
}

TEST_F(safetensors, takes_a_header_for_what_it_is_whatever_its_length_looks_like) {
  // The bytes of this length are the first of an ONNX model.
  std::string header = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  header.resize(0x3a0708, ' ');
  write(header, 4);
  EXPECT_EQ(problem("a", {1}), "none");
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

TEST(float_conversion, gives_back_every_half_and_bfloat16) {
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

TEST(float_conversion, rounds_to_the_nearest_and_to_the_even_of_two) {
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

}  // namespace graphline
