// Writes reports of made-up results for the tests in this folder.
//
// usage: sample_pages FOLDER      one file per sample: FOLDER/KIND/NAME.html

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/random.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "tests/analysis/made_experiments.hpp"
#include "tests/analysis/made_sweep.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/analysis/sample_rows.hpp"
#include "tests/report/page_records.hpp"
#include "tests/report/roofline_records.hpp"

namespace graphline {
namespace {

using samples::made_configuration;
using samples::made_experiment;
using samples::made_of;
using samples::taking;
using samples::two_models;

constexpr nanoseconds us = 1'000;
constexpr nanoseconds ms = 1'000'000;

/// Multiplies all times of a run by a factor.
void stretch(run_record& run, double factor) {
  const auto longer = [factor](nanoseconds& begin, nanoseconds& end) {
    end = begin + std::llround(static_cast<double>(end - begin) * factor);
  };
  for (auto& frame : run.frames) longer(frame.begin, frame.end);
  for (auto& stage : run.stages) {
    for (auto* stamps : {&stage.device, &stage.enqueued, &stage.cpu}) {
      for (auto& stamp : *stamps) longer(stamp.begin, stamp.end);
    }
  }
}

/// Puts trials in time: block after block, a trial every 1.6 seconds, each slightly faster or
/// slower than the next.
experiment_record in_time(experiment_record record) {
  std::ranges::stable_sort(record.trials, {}, &trial_record::block);
  for (std::size_t i = 0; i < record.trials.size(); ++i) {
    auto& trial = record.trials[i];
    trial.begun = static_cast<nanoseconds>(i) * 1'600 * ms;
    const auto drawn = static_cast<double>(mix_seed(i, 7) >> 11) * 0x1p-53;
    for (auto& run : trial.members) stretch(run, 0.992 + 0.016 * drawn);
  }
  return record;
}

experiment_record strategies() {
  auto serial = taking(87 * ms);
  serial.noise = 17 * ms;
  return in_time(made_experiment(
      "strategies",
      {made_of({{"strategy", "serial"}}, serial), made_of({{"strategy", "async"}}, taking(74 * ms)),
       made_of({{"strategy", "overlap"}}, taking(73'600 * us))},
      12));
}

/// The machine slows down from block to block, and blocks 4 and 9 took far longer.
experiment_record drifting() {
  auto record = strategies();
  for (auto& trial : record.trials) {
    const bool held_up = trial.block == 3 || trial.block == 8;
    const auto slower = 1 + 0.004 * static_cast<double>(trial.block) + (held_up ? 0.25 : 0);
    stretch(trial.members.front(), slower);
  }
  return record;
}

experiment_record together() {
  auto record = made_experiment("together", {}, 0);
  const auto camera = made_of({}, taking(12 * ms));
  const auto batch = made_of({}, taking(80 * ms));
  samples::add_together(record, "camera alone", {{"camera", camera}});
  samples::add_together(record, "batch alone", {{"batch", batch}});
  samples::add_together(
      record, "together",
      {{"camera", made_of({}, taking(18 * ms))}, {"batch", made_of({}, taking(95 * ms))}});
  record.pairs = {{{2, 0}, {0, 0}}, {{2, 1}, {1, 0}}};
  return in_time(std::move(record));
}

/// 60 configurations of two settings.
experiment_record many() {
  std::vector<made_configuration> all;
  for (int batch = 1; batch <= 15; ++batch) {
    for (const auto* strategy : {"serial", "async", "overlap", "frame"}) {
      const auto slower = *strategy == 's' ? 6 * ms : 0;
      all.push_back(made_of({{"strategy", strategy}, {"batch", fmt::to_string(batch)}},
                            taking((40 + 3 * batch) * ms + slower)));
    }
  }
  return in_time(made_experiment("many", all, 6));
}

/// Names that a page must show literally: markup, quotes, line breaks, other scripts, invalid
/// UTF-8.
experiment_record odd_names() {
  auto record =
      in_time(made_experiment("<b>\"odd\" & 'names'</b></script><!--",
                              {{"<img src=x onerror=alert(1)>"},
                               {"quote\" 'and'\nnew line \xff", {}, taking(80 * ms)},
                               {"שלב אחרון 最后", {{"</script>", "<i>"}}, taking(70 * ms)}},
                              8));
  record.description = "Zeile eins\nline two \xff מימין לשמאל";
  record.sources = {{"odd <file>.yaml", "experiment: \"<b>\" # </script><!-- <script>\n"}};
  for (auto& trial : record.trials) {
    trial.members[0].stages[0].name = "<u>stage</u> \"מימין\"";
    trial.members[0].warnings.emplace_back("stage '<i>x</i>' & more");
  }
  return record;
}

experiment_record calibrated_sweep() {
  auto record = in_time(samples::made_sweep());
  record.calibration = samples::laptop_calibration();
  return record;
}

experiment_record without_trials() {
  auto record = strategies();
  record.trials.clear();
  record.failure = "strategy=serial: there is no memory for it";
  return record;
}

/// Frames of about 400 us and of about 900 us.
run_record of_two_kinds() {
  auto record = two_models(timing_method::none, 60);
  for (std::size_t i = 0; i < record.frames.size(); ++i) {
    auto& frame = record.frames[i];
    frame.begin = frame.due;
    frame.end = frame.due + (i % 2 == 0 ? 400'000 : 900'000) + 1'000 * static_cast<int>(i);
  }
  return record;
}

/// Every type of part, joined into sections in every way.
report::document small() {
  const auto ms_of = [](double time) { return report::cell(time * ms, unit::duration); };
  report::document made{"run", "small", "", {"small on host"}, {}, {}, "stages"};
  made.findings.push_back(finding("").with("text", std::string("worth knowing")));
  made.parts = {
      report::facts{"device", "Device", {{"name", "name", "host"}}, report::in_page, true},
      report::facts{"figures", "Figures", {{"one", "one", 1}}},
      report::facts{"others", "Others", {{"two", "two", 2, "unit"}}},
      report::table{"stages",
                    "Stages",
                    "stage",
                    "part",
                    {{"name", "stage"},
                     {"kind", "kind", {}, 0, "", report::not_in_text},
                     {"time", "words", unit::duration, 0, "what it took"}},
                    {{{"a", "net", ms_of(1.5)}}, {{"b", {}, {}}, 1}},
                    report::everywhere,
                    report::row{{"all", {}, ms_of(2)}}},
      report::note{"a note\nof two lines"},
      report::facts{"", "Kept", {{"kept", "kept in", "x.json"}}}};
  return made;
}

void write(const std::filesystem::path& folder, const char* name, const report::document& page) {
  std::filesystem::create_directories(folder);
  std::ofstream file(folder / fmt::format("{}.html", name), std::ios::binary);
  file << report::as_html(page);
  file.close();
  if (!file) throw std::runtime_error(fmt::format("cannot write {}.html", name));
}

template <class Record>
void write(const std::filesystem::path& folder, const char* name, const Record& record) {
  write(folder, name, report::describe(record));
}

void write_all(const std::filesystem::path& folder) {
  const auto run = folder / "run";
  write(run, "event", two_models(timing_method::event, 300));
  write(run, "single", two_models(timing_method::event, 1));
  write(run, "none", two_models(timing_method::none, 45));
  write(run, "schedule", samples::two_models_on_schedule(300));
  write(run, "detail", samples::in_detail());
  write(run, "odd", samples::odd_names());
  write(run, "crowded", samples::crowded());
  write(run, "failed", samples::failed());
  write(run, "empty", samples::without_frames());
  write(run, "two_kinds", of_two_kinds());
  write(run, "small", small());
  write(run, "long", samples::long_run(100'000));
  write(run, "decided", samples::decided_by_a_policy());
  write(run, "skips", samples::recognizer({1, skipped, 0, 2, 4, 1, 3}));
  write(run, "calibrated", samples::calibrated_two_models().layers);
  const auto experiment = folder / "experiment";
  write(experiment, "strategies", strategies());
  write(experiment, "drifting", drifting());
  write(experiment, "together", together());
  write(experiment, "many", many());
  write(experiment, "odd", odd_names());
  write(experiment, "kernels", in_time(samples::made_sweep()));
  write(experiment, "calibrated", calibrated_sweep());
  write(experiment, "search", in_time(samples::searched()));
  write(experiment, "empty", without_trials());
  const auto roofline = folder / "roofline";
  write(roofline, "processor", samples::calibrated_two_models());
  write(roofline, "gpu", samples::calibrated_gpu());
  write(roofline, "deep", samples::calibrated_gpu(60));
  write(roofline, "odd", samples::calibrated_odd_names());
  write(roofline, "uncalibrated", samples::uncalibrated());
  write(roofline, "empty", samples::calibrated_without_frames());
}

}  // namespace
}  // namespace graphline

int main(int count, char** words) try {
  if (count != 2) {
    fmt::print(stderr, "usage: sample_pages FOLDER\n");
    return 2;
  }
  graphline::write_all(words[1]);
} catch (const std::exception& problem) {
  fmt::print(stderr, "sample_pages: {}\n", problem.what());
  return 1;
}
