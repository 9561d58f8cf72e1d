// Writes reports of made-up results for the tests in this folder.
//
// usage: sample_pages FOLDER      one file per sample: FOLDER/NAME.html

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/report/page_records.hpp"

namespace graphline {
namespace {

void write(const std::filesystem::path& folder, const char* name, const run_record& record) {
  std::ofstream file(folder / fmt::format("{}.html", name), std::ios::binary);
  file << report::as_html(report::describe(record));
  file.close();
  if (!file) throw std::runtime_error(fmt::format("cannot write {}.html", name));
}

/// Frames of about 400 us and of about 900 us, and none between.
run_record of_two_kinds() {
  auto record = samples::two_models(timing_method::none, 60);
  for (std::size_t i = 0; i < record.frames.size(); ++i) {
    auto& frame = record.frames[i];
    frame.begin = frame.due;
    frame.end = frame.due + (i % 2 == 0 ? 400'000 : 900'000) + 1'000 * static_cast<int>(i);
  }
  return record;
}

void write_all(const std::filesystem::path& folder) {
  write(folder, "event", samples::two_models(timing_method::event, 300));
  write(folder, "single", samples::two_models(timing_method::event, 1));
  write(folder, "none", samples::two_models(timing_method::none, 45));
  write(folder, "schedule", samples::two_models_on_schedule(300));
  write(folder, "detail", samples::in_detail());
  write(folder, "odd", samples::odd_names());
  write(folder, "crowded", samples::crowded());
  write(folder, "failed", samples::failed());
  write(folder, "empty", samples::without_frames());
  write(folder, "two_kinds", of_two_kinds());
  write(folder, "long", samples::long_run(100'000));
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
