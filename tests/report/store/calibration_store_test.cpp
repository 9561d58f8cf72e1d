#include "framework/report/store/calibration_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "framework/base/error.hpp"
#include "framework/report/store/record_reader.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/report/result_texts.hpp"
#include "tests/report/sample_calibrations.hpp"

namespace graphline {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;
using samples::gpu_calibration;
using samples::host_calibration;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

/// Stores a calibration and returns its path.
std::string keep_in(const calibration_store& store, const calibration_record& record) {
  auto file = store.open(record.device);
  file.commit(calibration_json(record));
  return file.path();
}

/// The error if the stored file holds `text`.
std::string trouble_with(const std::string& text) {
  const temporary_folder folder;
  const calibration_store store(folder.path());
  const auto record = host_calibration();
  const auto path = store.path_of(record.device);
  write(path, text);
  try {
    store.find(record.device);
  } catch (const input_error& problem) {
    const std::string message = problem.what();
    EXPECT_THAT(message, StartsWith(path + ":"));
    return message.substr(path.size());
  }
  return "none";
}

template <class Change>
std::string trouble_after(Change change) {
  auto value = json::parse(calibration_json(host_calibration()));
  change(value);
  return trouble_with(value.dump());
}

TEST(calibration_store, finds_what_was_kept_of_each_device) {
  const temporary_folder folder;
  const calibration_store store(folder.path() / "new");
  EXPECT_FALSE(store.find(host_calibration().device));
  const auto path = keep_in(store, host_calibration());
  keep_in(store, gpu_calibration());
  EXPECT_EQ(path, store.path_of(host_calibration().device));
  for (const auto& record : {host_calibration(), gpu_calibration()}) {
    const auto found = store.find(record.device);
    ASSERT_TRUE(found);
    EXPECT_EQ(calibration_json(*found), calibration_json(record));
  }
}

TEST(calibration_store, tells_hosts_of_other_threads_apart) {
  const temporary_folder folder;
  const calibration_store store(folder.path());
  keep_in(store, host_calibration());
  auto other = host_calibration().device;
  ++other.compute_threads;
  EXPECT_FALSE(store.find(other));
  EXPECT_EQ(fs::path(store.path_of(other)).filename(),
            "host-A-Processor-R-CPU-2-80GHz-2-threads.json");
  EXPECT_EQ(fs::path(store.path_of(gpu_calibration().device)).filename(), "cuda-NVIDIA-H200.json");
}

TEST(calibration_store, makes_a_safe_file_name_of_any_name) {
  const temporary_folder folder;
  const calibration_store store(folder.path());
  auto record = host_calibration();
  for (const std::string& name : {std::string("../../etc/x"), std::string(), std::string("画像"),
                                  std::string("a\nb\0c", 5), std::string(5000, 'x')}) {
    record.device.name = name;
    const fs::path path = keep_in(store, record);
    EXPECT_EQ(path.parent_path(), folder.path() / "calibrations");
    EXPECT_LT(path.filename().string().size(), 200U);
    EXPECT_TRUE(store.find(record.device));
  }
}

TEST(calibration_store, leaves_what_was_kept_where_nothing_comes_of_a_calibration) {
  const temporary_folder folder;
  const calibration_store store(folder.path());
  const auto record = host_calibration();
  keep_in(store, record);
  {
    const auto begun = store.open(record.device);
    EXPECT_THROW(store.open(record.device), input_error);  // two at a time disturb each other
  }
  EXPECT_EQ(store.find(record.device)->ceilings.size(), record.ceilings.size());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path() / "calibrations"), {}), 1);
}

TEST(calibration_store, keeps_nothing_without_a_folder) {
  const calibration_store nowhere{fs::path()};
  EXPECT_FALSE(nowhere.find(host_calibration().device));
  try {
    keep_in(nowhere, host_calibration());
    ADD_FAILURE() << "kept";
  } catch (const input_error& problem) {
    EXPECT_THAT(problem.what(), HasSubstr("GRAPHLINE_CACHE"));
  }
}

TEST(calibration_reader, refuses_what_is_no_calibration) {
  EXPECT_THAT(trouble_with(result_json(samples::two_models(timing_method::event, 2))),
              HasSubstr("this is a run, not a calibration; make one with 'graphline calibrate'"));
  EXPECT_THAT(trouble_with(R"({"schema": "graphline.calibration/2"})"),
              AllOf(HasSubstr("'graphline.calibration/2'"), HasSubstr("graphline.calibration/1")));
  EXPECT_THAT(trouble_with(""), HasSubstr("the file is empty"));
}

TEST(calibration_reader, names_what_is_missing_or_cannot_be) {
  EXPECT_EQ(trouble_after([](json& c) { c["environment"].erase("date"); }),
            ": error: result.environment lacks 'date' (graphline 0.5.0 wrote it); make it again "
            "with 'graphline calibrate'");
  EXPECT_EQ(trouble_after([](json& c) { c["ceilings"][0]["amount"] = 0; }),
            ": error: result.ceilings[0].amount is 0, where a number from 0.001 to "
            "10^18 is expected");
  for (const json& value : {json(0), json(-1), json("inf"), json(nullptr), json(0.5)}) {
    EXPECT_THAT(trouble_after([&](json& c) { c["ceilings"][0]["times_ns"][1] = value; }),
                HasSubstr("ceilings[0].times_ns[1] is "));
  }
}

TEST(calibration_reader, reads_one_without_samples_and_without_ceilings) {
  auto record = host_calibration();
  record.ceilings[0].times.clear();
  record.warnings = {"\"a\" <b>"};
  record.interrupted = true;
  const temporary_folder folder;
  for (int step = 0; step < 2; ++step) {
    const auto path = (folder.path() / "c.json").string();
    write(path, calibration_json(record));
    EXPECT_EQ(calibration_json(read_calibration(path)), calibration_json(record));
    record.ceilings.clear();
  }
}

TEST(calibrate_command, measures_the_device_that_was_meant) {
  EXPECT_EQ(calibrate_command(host_calibration().device),
            "graphline calibrate --device host --threads 1");
  EXPECT_EQ(calibrate_command(gpu_calibration().device), "graphline calibrate --device cuda");
}

}  // namespace
}  // namespace graphline
