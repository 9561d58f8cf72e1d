#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "framework/base/error.hpp"
#include "stages/kinds.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/stages/cpu/stage_trial.hpp"

namespace graphline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Property;
using testing::Throws;

/// A file that NumPy wrote (tests/base/file/make_npy_files.py).
std::string from_numpy(const std::string& name) {
  return file_contents(GRAPHLINE_TEST_DIR "/../../base/file/npy/" + name);
}

/// A vector of two float32 numbers, as numpy.save writes it.
std::string vector_file(float first, float second) {
  std::string head = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  head.resize(117, ' ');
  const std::vector<float> values = {first, second};
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + head + '\n' +
         std::string(reinterpret_cast<const char*>(values.data()), 8);
}

std::string parameters(const temporary_folder& files, const std::string& more = "") {
  return "{folder: '" + files.path().string() + "'" + more + "}";
}

class arrays : public testing::Test {
 protected:
  arrays() {
    files_.write("b.npy", vector_file(3, 4));
    files_.write("a.npy", vector_file(1, 2));
    files_.write("c.NPY", vector_file(5, 6));
    files_.write("d.txt", "no array");
  }

  std::vector<std::string> complaints(const std::string& more = "") const {
    return stage_trial(arrays_kind(), parameters(files_, more)).complaints();
  }

  temporary_folder files_;
};

TEST_F(arrays, are_one_file_in_each_frame_in_the_order_of_names) {
  stage_trial trial(arrays_kind(), parameters(files_));
  ASSERT_THAT(trial.complaints(), IsEmpty());
  EXPECT_THAT(trial.prepared().outputs, ElementsAre(tensor_type{{2}, dtype::float32}));
  for (const std::int64_t frame : {0, 1, 2, 3, 100}) {
    const auto first = static_cast<float>(1 + 2 * (frame % 3));
    EXPECT_THAT(trial.run(frame).output<float>(0), ElementsAre(first, first + 1)) << frame;
  }
}

TEST_F(arrays, are_stacked_to_a_batch) {
  stage_trial trial(arrays_kind(), parameters(files_, ", batch: 2"));
  EXPECT_THAT(trial.prepared().outputs, ElementsAre(tensor_type{{2, 2}, dtype::float32}));
  EXPECT_THAT(trial.run(1).output<float>(0), ElementsAre(5, 6, 1, 2));
  // With rows, one file for each frame of the batch.
  const auto rows = trial.outputs_of_rows(1);
  ASSERT_EQ(rows.at(0).size(), 8U);
  const auto* row = reinterpret_cast<const float*>(rows[0].data());
  EXPECT_THAT(std::vector(row, row + 2), ElementsAre(1, 2));
}

TEST_F(arrays, have_rows_only_in_a_batch) {
  diagnostics out;
  for (const bool batch : {false, true}) {
    arguments given;
    if (batch) given.set("batch", std::int64_t{3}, {});
    EXPECT_EQ(arrays_kind().open(given, out).ports.outputs.at(0).rows, batch);
  }
}

TEST_F(arrays, have_the_values_that_numpy_saved) {
  const temporary_folder files;
  files.write("x.npy", from_numpy("int64.npy"));
  stage_trial trial(arrays_kind(), parameters(files));
  ASSERT_THAT(trial.complaints(), IsEmpty());
  ASSERT_EQ(trial.prepared().outputs[0].element, dtype::int64);
  const std::string bytes = from_numpy("int64.npy");
  std::vector<std::int64_t> expected(trial.prepared().outputs[0].bytes() / 8);
  std::memcpy(expected.data(), &bytes[bytes.size() - expected.size() * 8], expected.size() * 8);
  EXPECT_EQ(trial.run().output<std::int64_t>(0), expected);
}

TEST_F(arrays, of_another_type_than_the_first_are_refused_by_name) {
  files_.write("e.npy", from_numpy("float32.npy"));
  EXPECT_THAT(complaints(), ElementsAre("NumPy file '" + (files_.path() / "e.npy").string() +
                                        "' holds float32 [2, 3]; the first of its folder holds "
                                        "float32 [2]"));
  files_.write("e.npy", "no array");
  EXPECT_THAT(complaints(), ElementsAre(HasSubstr("e.npy' is not in NumPy's format")));
}

TEST_F(arrays, of_a_type_that_is_seldom_meant_must_be_stated) {
  const temporary_folder files;
  files.write("x.npy", from_numpy("float64.npy"));
  const auto found = [&](const std::string& more) {
    return stage_trial(arrays_kind(), parameters(files, more)).complaints();
  };
  EXPECT_THAT(found(""), ElementsAre(HasSubstr("or state 'dtype: float64'")));
  EXPECT_THAT(found(", dtype: float32"), ElementsAre(HasSubstr("save it as float32")));
  EXPECT_THAT(found(", dtype: float64"), IsEmpty());
  EXPECT_THAT(complaints(", dtype: int32"),
              ElementsAre(HasSubstr("float32 [2]: omit 'dtype', or make it float32")));
}

TEST_F(arrays, that_are_gone_or_changed_end_the_run) {
  stage_trial trial(arrays_kind(), parameters(files_));
  files_.write("a.npy", from_numpy("float32.npy"));
  EXPECT_THAT([&] { trial.run(); },
              Throws<error>(Property(&error::what, HasSubstr("a.npy' holds float32 [2, 3]"))));
  std::filesystem::remove(files_.path() / "a.npy");
  EXPECT_THAT([&] { trial.run(); },
              Throws<error>(Property(&error::what, HasSubstr("a.npy' does not exist"))));
}

TEST_F(arrays, need_a_folder_with_files) {
  const temporary_folder empty;
  EXPECT_THAT(stage_trial(arrays_kind(), parameters(empty)).complaints(),
              ElementsAre("the folder '" + empty.path().string() + "' holds no .npy file"));
  EXPECT_THAT(stage_trial(arrays_kind(), "{folder: /nonexistent/x}").complaints(),
              ElementsAre(HasSubstr("cannot read the folder '/nonexistent/x'")));
}

}  // namespace
}  // namespace graphline
