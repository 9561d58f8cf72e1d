#include "framework/base/file/npy_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "framework/base/error.hpp"
#include "tests/base/temporary_folder.hpp"

namespace graphline {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Property;
using testing::Throws;

/// Path of a file from make_npy_files.py.
std::string from_numpy(const std::string& name) {
  return GRAPHLINE_TEST_DIR "/file/npy/" + name;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class T>
std::vector<T> numbers_in(const std::string& name) {
  npy_file file(from_numpy(name));
  std::vector<T> numbers(static_cast<std::size_t>(file.type().shape.elements()));
  file.read(std::as_writable_bytes(std::span(numbers)));
  return numbers;
}

void expect_refused(const std::string& path, const std::string& words) {
  EXPECT_THAT([&] { npy_file file(path); },
              Throws<input_error>(Property(&input_error::what,
                                           AllOf(HasSubstr("'" + path + "'"), HasSubstr(words)))));
}

/// The same of a file with this content.
void expect_content_refused(const std::string& content, const std::string& words) {
  const temporary_folder folder;
  expect_refused(folder.write("x.npy", content), words);
}

TEST(npy_file, reads_the_dtypes_that_numpy_writes) {
  EXPECT_EQ(npy_file(from_numpy("float32.npy")).type(), (tensor_type{{2, 3}, dtype::float32}));
  EXPECT_EQ(npy_file(from_numpy("float64.npy")).type().element, dtype::float64);
  EXPECT_EQ(npy_file(from_numpy("float16.npy")).type().element, dtype::float16);
  EXPECT_EQ(npy_file(from_numpy("uint16.npy")).type().element, dtype::bfloat16);
  EXPECT_THAT(numbers_in<float>("float32.npy"), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(numbers_in<double>("float64.npy"), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(numbers_in<std::int64_t>("int64.npy"), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(numbers_in<std::int32_t>("int32.npy"), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(numbers_in<std::uint8_t>("uint8.npy"), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(numbers_in<std::uint16_t>("float16.npy"),
              ElementsAre(0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500));
}

TEST(npy_file, reads_all_versions_and_ranks) {
  EXPECT_THAT(numbers_in<float>("version_2.npy"), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(numbers_in<float>("version_3.npy"), ElementsAre(2, 3, 4, 5, 6, 7));
  EXPECT_EQ(npy_file(from_numpy("scalar.npy")).type().shape, shape{});
  EXPECT_THAT(numbers_in<float>("scalar.npy"), ElementsAre(2.5F));
  EXPECT_EQ(npy_file(from_numpy("vector.npy")).type().shape, shape{5});
}

TEST(npy_file, refuses_what_no_tensor_holds) {
  expect_refused(from_numpy("fortran.npy"),
                 "is in Fortran order; save numpy.ascontiguousarray of the array");
  expect_refused(from_numpy("big_endian.npy"),
                 "type '>f4', which is big-endian; save it as one of "
                 "float32, float16, int64, int32 and uint8");
  expect_refused(from_numpy("bool.npy"), "holds elements of type '|b1'; save it as one of");
  expect_refused(from_numpy("complex.npy"), "type '<c8'");
  expect_refused(from_numpy("objects.npy"), "type '|O'");
  expect_refused(from_numpy("empty.npy"), "is empty: float32 [2, 0]");
  expect_refused(from_numpy("records.npy"), "does not hold one array of numbers");
  expect_refused(from_numpy("archive.npz"),
                 "is an archive of several, .npz; write one array with numpy.save");
  expect_refused(from_numpy("flaot32.npy"), "does not exist (did you mean 'float32.npy'?)");
  expect_refused(GRAPHLINE_TEST_DIR, "is not a regular file");
}

TEST(npy_file, refuses_a_file_of_another_length) {
  const std::string whole = bytes_of(from_numpy("float32.npy"));
  expect_content_refused("version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 9\n",
                         "is a Git LFS pointer, not the file: run git lfs pull");
  expect_content_refused("", "is not in NumPy's format, .npy; write one array with numpy.save");
  expect_content_refused(
      std::string("\x93NUMPY\x02\x00\x01\x00\x01\x00", 12) + std::string(65537, ' '),
      "has a header of 65537 bytes; at most 65536 are read");
  expect_content_refused(whole.substr(0, 11), "is truncated in its header");
  expect_content_refused(whole.substr(0, 127), "is truncated in its header");
  expect_content_refused(whole.substr(0, 151),
                         "is truncated: float32 [2, 3] takes 24 bytes, and 23 follow its header");
  expect_content_refused(whole + whole, "holds more than one array: float32 [2, 3] takes 24 bytes");
}

/// A file of version 1.0 with this header, followed by `bytes` bytes.
std::string with_header(const std::string& header, std::size_t bytes = 0) {
  const std::string length{static_cast<char>(header.size() & 0xff),
                           static_cast<char>(header.size() >> 8)};
  return std::string("\x93NUMPY\x01\x00", 8) + length + header + std::string(bytes, '\0');
}

TEST(npy_file, refuses_a_header_that_is_not_exact) {
  const std::string no_array = "does not hold one array of numbers";
  const std::string sound = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  const temporary_folder folder;
  EXPECT_EQ(npy_file(folder.write("x.npy", with_header(sound, 8))).type().shape, shape{2});
  EXPECT_EQ(
      npy_file(folder.write(
                   "x.npy",
                   with_header("{\"shape\":(3 , 2),'fortran_order':False,'descr':\"<f4\"}\n", 24)))
          .type()
          .shape,
      (shape{3, 2}));
  for (std::size_t length = 0; length < sound.size(); ++length) {
    expect_content_refused(with_header(sound.substr(0, length), 8), no_array);
  }
  for (const std::string wrong :
       {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': [2]}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2.0,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} and more"}) {
    SCOPED_TRACE(wrong);
    expect_content_refused(with_header(wrong, 8), no_array);
  }
  expect_content_refused(
      with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (4000000000, 4000000000)}"),
      "has more elements than any memory holds: float32 [4000000000, 4000000000]");
  std::string other = with_header(sound, 8);
  other[6] = '\x04';
  expect_content_refused(other, "has format version 4.0, and 1.0, 2.0 and 3.0 are read");
}

std::string written(const tensor_type& type, const std::vector<std::byte>& data) {
  const temporary_folder folder;
  write_npy(folder / "x.npy", type, data);
  return bytes_of(folder / "x.npy");
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

TEST(npy, is_read_as_it_was_written) {
  const temporary_folder folder;
  for (const std::string& name : dtype_names()) {
    const tensor_type type{{3, 1, 2}, dtype_from(name).value()};
    std::vector<std::byte> data(type.bytes());
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i + 1);
    write_npy(folder / name, type, data);
    npy_file file(folder / name);
    EXPECT_EQ(file.type(), type);
    std::vector<std::byte> read(type.bytes());
    file.read(read);
    EXPECT_EQ(read, data) << name;
  }
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
