#include "framework/spec/arrival_trace.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "framework/spec/settings_reader.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/spec/reading.hpp"

namespace graphline {
namespace {

using times = std::vector<nanoseconds>;

class arrival_file : public testing::Test {
 protected:
  /// The times in a file with this text.
  times read(const std::string& text) const {
    diagnostics out;
    const auto trace = read_arrival_trace(folder_.write("a.csv", text), {}, out);
    EXPECT_EQ(out.render(), "") << text;
    return trace ? trace->due : times{-1};
  }

  /// The error for a path, without the path.
  std::string refusal_of(const std::string& path) const {
    diagnostics out;
    const place here{std::make_shared<source_text>("p.yaml", "arrival_file: a.csv\n"), 1, 15, 5};
    EXPECT_EQ(read_arrival_trace(path, here, out), nullptr);
    EXPECT_EQ(out.all().size(), 1U);
    const std::string said = out.all().at(0).message;
    const std::string start = "arrival file '" + path + "'";
    EXPECT_EQ(out.render().rfind("p.yaml:1:15: error: " + start, 0), 0U) << out.render();
    return said.substr(start.size());
  }

  std::string refusal(const std::string& text) const {
    return refusal_of(folder_.write("a.csv", text));
  }

  temporary_folder folder_;
};

TEST_F(arrival_file, has_seconds_unless_its_first_line_names_another_unit) {
  EXPECT_EQ(read("0\n0.5\n0.5\n2\n"), (times{0, 500'000'000, 500'000'000, 2'000'000'000}));
  EXPECT_EQ(read("due_s\n0.25\n1e1"), (times{250'000'000, 10'000'000'000}));
  EXPECT_EQ(read("due_ms\n0\n33.333333\n"), (times{0, 33'333'333}));
  EXPECT_EQ(read("due_us\n1.5\n2\n"), (times{1500, 2000}));
  EXPECT_EQ(read("due_ns\n7\n9007199254740992\n"), (times{7, 9'007'199'254'740'992}));
}

TEST_F(arrival_file, may_have_line_ends_of_windows_blanks_empty_lines_and_a_byte_order_mark) {
  EXPECT_EQ(read("\xef\xbb\xbf"
                 "\r\n due_ms \r\n\t1 \r\n\r\n2\r\n\r\n"),
            (times{1'000'000, 2'000'000}));
}

TEST_F(arrival_file, is_refused_with_line_and_remedy_where_it_has_no_ascending_times) {
  const std::string no_number =
      ": this is not a number; write one time on each line, and only the first line may be due_ns, "
      "due_us, due_ms or due_s";
  const std::string no_time = " is too long or not finite; times must be at most 104 days";
  EXPECT_EQ(refusal("due_ms\n1\nlater\n"), ", line 3" + no_number);
  EXPECT_EQ(refusal("time\n1\n"), ", line 1" + no_number);
  EXPECT_EQ(refusal("1\ndue_ms\n"), ", line 2" + no_number);
  EXPECT_EQ(refusal("1,2\n"), ", line 1" + no_number);
  EXPECT_EQ(refusal("1 s\n"), ", line 1" + no_number);
  EXPECT_EQ(refusal(std::string("\0\1\2", 3)), ", line 1" + no_number);
  EXPECT_EQ(refusal("1\nnan\n"), ", line 2: nan" + no_time);
  EXPECT_EQ(refusal("inf\n"), ", line 1: inf" + no_time);
  EXPECT_EQ(refusal("1\n1e300"), ", line 2: 1e300" + no_time);
  EXPECT_EQ(refusal("1\n1e999"), ", line 2: 1e999" + no_time);
  EXPECT_EQ(refusal("due_ns\n9007199254740994\n"), ", line 2: 9007199254740994" + no_time);
  EXPECT_EQ(refusal("\n-0.1\n"),
            ", line 2: -0.1 is negative; count times from the start of the load");
  EXPECT_EQ(refusal("1\r\n\r\n0.5\r\n"),
            ", line 3: 0.5 is earlier than the time before it; sort the times");
  EXPECT_EQ(refusal("due_ms\n\n"), " has no times; write one on each line");
}

TEST_F(arrival_file, is_refused_where_it_cannot_be_read) {
  EXPECT_EQ(refusal(""), " cannot be read: the file is empty");
  EXPECT_EQ(refusal_of(folder_ / "b.csv"),
            " cannot be read: there is no such file (did you mean 'a.csv'?)");
  EXPECT_EQ(refusal_of(folder_ / ""), " cannot be read: this is a folder; a file is expected");
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(refusal_of(folder_ / "pipe"), " cannot be read: this is not a regular file");
  const std::string large = folder_.write("large.csv", "0\n");
  std::filesystem::resize_file(large, (std::size_t{64} << 20) + 1);
  EXPECT_EQ(refusal_of(large), " cannot be read: it is larger than 64 MiB, the most that is read");
}

TEST(arrival_trace, has_the_mean_gap_of_the_arrivals_after_its_first_time) {
  EXPECT_EQ(trace_of({100, 200, 200, 700}).mean_gap, 200);
  EXPECT_EQ(trace_of({3, 3, 3, 9}).mean_gap, 6);
  EXPECT_EQ(trace_of({5}).mean_gap, 0);
  EXPECT_EQ(trace_of({5, 5}).mean_gap, 0);
}

std::string file_in(const std::string& source, const std::string& value) {
  const auto read = read_pipeline_text(
      "pipeline: p\nstages: [{name: a, kind: b}]\nrun: {arrival_file: " + value + "}\n", {},
      source);
  EXPECT_EQ(read.said.render(), "");
  return read.spec.run.arrival_file.value_or("none");
}

TEST(arrival_file_setting, is_relative_to_the_file_that_gives_it_or_to_the_working_directory) {
  EXPECT_EQ(file_in("p.yaml", "a.csv"), "a.csv");
  EXPECT_EQ(file_in("pipelines/p.yaml", "loads/../a.csv"), "pipelines/a.csv");
  EXPECT_EQ(file_in("pipelines/p.yaml", "/data/a.csv"), "/data/a.csv");
  const auto experiment = read_experiment_text(
      "experiment: e\npipeline: p.yaml\nvary: {arrival_file: [a.csv]}\n", "experiments/e.yaml");
  EXPECT_EQ(experiment.said.render(), "");
  settings run;
  diagnostics out;
  const auto& given = experiment.spec.configurations.at(0).assignments.at(0);
  read_setting(run, given.key.text, given.value, out);
  EXPECT_EQ(run.arrival_file, "experiments/a.csv");
  const place option{std::make_shared<source_text>("--arrival-file a.csv", "")};
  read_setting(run, "arrival_file", node::scalar("a.csv", false, option), out);
  EXPECT_EQ(run.arrival_file, "a.csv");
  read_setting(run, "arrival_file", node::scalar("", false, option), out);
  EXPECT_EQ(out.render(),
            "--arrival-file a.csv: error: 'arrival_file' must be a path, found an empty text");
}

}  // namespace
}  // namespace graphline
