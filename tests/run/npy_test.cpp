#include "framework/run/execute/tensor_data.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "framework/base/error.hpp"

namespace graphline {
namespace {

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
