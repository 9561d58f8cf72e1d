#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/spec/reading.hpp"

namespace graphline {
namespace {

using testing::ElementsAre;
using testing::Pair;

const std::string folder =
    std::filesystem::path(GRAPHLINE_TEST_DIR "/../base/file/npy/").lexically_normal();

/// Reads a pipeline with this input, in the folder of the files from make_npy_files.py.
reading read_input_of(const std::string& input, const reading_options& options = {}) {
  return read_pipeline_text(
      "pipeline: p\nparams: {name: float32.npy}\ninputs:\n  x: " + input +
          "\nstages:\n  - {name: s, kind: copy, reads: x}\ndescription: $name\n",
      options, folder + "p.yaml");
}

/// Column and message, without the folder, of each diagnostic.
std::vector<std::pair<std::size_t, std::string>> complaints_about(const std::string& input) {
  const reading r = read_input_of(input);
  EXPECT_FALSE(r.spec.inputs.at(0).typed);
  std::vector<std::pair<std::size_t, std::string>> all;
  for (const diagnostic& d : r.said.all()) {
    std::string message = d.message;
    for (auto at = message.find(folder); at != std::string::npos; at = message.find(folder)) {
      message.erase(at, folder.size());
    }
    EXPECT_EQ(d.place.line, 4U);
    all.emplace_back(d.place.column, message);
  }
  return all;
}

TEST(input_file, gives_shape_and_dtype) {
  for (const std::string input :
       {"{file: float32.npy}", "{file: $name}", "{file: float32.npy, shape: [2, 3]}",
        "{file: float32.npy, shape: [2, 3], dtype: float32, on: cpu}"}) {
    const reading r = read_input_of(input);
    EXPECT_EQ(r.said.render(), "");
    EXPECT_EQ(r.spec.inputs.at(0).type, (tensor_type{{2, 3}, dtype::float32}));
    EXPECT_EQ(r.spec.inputs[0].file, folder + "float32.npy");
  }
  EXPECT_EQ(read_input_of("{file: int64.npy}").spec.inputs.at(0).type.element, dtype::int64);
}

TEST(input_file, of_an_option_is_relative_to_the_working_directory) {
  const std::string from_here = std::filesystem::relative(folder + "uint8.npy");
  const reading other = read_input_of("{file: $name}", {.set = {{"name", from_here}}});
  EXPECT_EQ(other.said.render(), "");
  EXPECT_EQ(other.spec.inputs.at(0).type.element, dtype::uint8);
  EXPECT_EQ(other.spec.inputs[0].file, from_here);

  const reading from_folder = read_input_of("{file: $name}", {.set = {{"name", "uint8.npy"}}});
  EXPECT_TRUE(from_folder.said.has_errors());
}

TEST(input_file, is_taken_as_float64_or_bfloat16_only_where_that_is_stated) {
  EXPECT_THAT(complaints_about("{file: float64.npy}"),
              ElementsAre(Pair(13,
                               "NumPy file 'float64.npy' holds float64 [2, 3]: save it as "
                               "float32, with astype('float32'), or state 'dtype: float64' "
                               "where its readers take that")));
  EXPECT_THAT(complaints_about("{file: float64.npy, dtype: float32}"),
              ElementsAre(Pair(33,
                               "NumPy file 'float64.npy' holds float64 [2, 3]: save it as "
                               "float32, with astype('float32')")));
  EXPECT_THAT(complaints_about("{file: uint16.npy}"),
              ElementsAre(Pair(13,
                               "NumPy file 'uint16.npy' holds uint16: state 'dtype: bfloat16' "
                               "if these are bfloat16 numbers")));
  EXPECT_EQ(read_input_of("{file: float64.npy, dtype: float64}").said.render(), "");
  EXPECT_EQ(read_input_of("{file: uint16.npy, dtype: bfloat16}").said.render(), "");
}

TEST(input_file, must_agree_with_what_stands_beside_it) {
  EXPECT_THAT(complaints_about("{file: float32.npy, shape: [3, 2], dtype: int32, fill: ones}"),
              ElementsAre(Pair(61, "'fill' does not go with 'file': omit one of them"),
                          Pair(33,
                               "NumPy file 'float32.npy' holds float32 [2, 3]: omit 'shape', "
                               "or make it [2, 3]"),
                          Pair(48,
                               "NumPy file 'float32.npy' holds float32 [2, 3]: omit 'dtype', "
                               "or make it float32")));
}

TEST(input_file, that_cannot_be_read_is_reported_at_its_place) {
  EXPECT_THAT(complaints_about("{file: flaot32.npy}"),
              ElementsAre(Pair(13,
                               "NumPy file 'flaot32.npy' does not exist (did you mean "
                               "'float32.npy'?)")));
  EXPECT_THAT(complaints_about("{file: fortran.npy}"),
              ElementsAre(Pair(13,
                               "NumPy file 'fortran.npy' is in Fortran order; save "
                               "numpy.ascontiguousarray of the array")));
  EXPECT_THAT(complaints_about("{file: [float32.npy]}"),
              ElementsAre(Pair(13, "'file' must be text, found a list")));
}

TEST(input_file, is_not_looked_at_where_a_parameter_is_unknown) {
  for (const std::string input : {"{file: $nmae}", "{file: float64.npy, shape: $nmae}",
                                  "{file: float64.npy, dtype: $nmae}"}) {
    const reading r = read_input_of(input);
    EXPECT_EQ(r.said.all().size(), 1U) << r.said.render();
    EXPECT_FALSE(r.spec.inputs.at(0).typed);
  }
}

}  // namespace
}  // namespace graphline
