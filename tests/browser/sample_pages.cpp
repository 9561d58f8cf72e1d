// Writes reports of made-up results for the tests in this folder.
//
// usage: sample_pages FOLDER      one file per sample: FOLDER/NAME.html

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>

#include "framework/report/html/run_page.hpp"
#include "tests/analysis/sample_records.hpp"

namespace graphline {
namespace {

/// Names that a page must show as they are: markup, quotes, line breaks, other scripts, bytes that
/// are no UTF-8.
run_record odd_names() {
  auto record = samples::two_models(timing_method::event, 60);
  record.pipeline = "<b>\"odd\" & 'names'</b></script><!--";
  record.description = "Zeile eins\nline two \xff מימין לשמאל";
  record.stages[0].name = "<img src=x onerror=alert(1)>";
  record.stages[1].name = "quote\" 'and'\nnew line";
  record.stages[2].name = "שלב אחרון 最后 \xc3\x28";
  record.outputs[0].tensor = "score</script><script>alert(2)</script>";
  record.parameters.emplace_back("name \"x\"", "<value>\n2");
  record.source->file = "odd <file>.yaml";
  record.source->text = "pipeline: \"<b>\"\n# </script><!-- <script>\nstages:\n  - name: שלב\n";
  record.warnings.emplace_back("stage '<i>x</i>' & more");
  return record;
}

/// Six stages, very many frames, and now and then one that takes long.
run_record long_run() {
  constexpr std::size_t frames = 100'000;
  auto record = samples::two_models(timing_method::event, frames);
  for (std::size_t i = 0; i < record.frames.size(); i += 9973) {
    record.frames[i].end += 60'000'000;
  }
  for (std::size_t copy = 0; copy < 3; ++copy) {
    record.stages.push_back(record.stages[copy]);
    record.stages.back().name += " again";
  }
  return record;
}

run_record failed() {
  auto record = samples::two_models(timing_method::event, 7);
  record.run.frames = 45;
  record.failure = "stage 'head': the device has no memory left";
  return record;
}

run_record without_frames() {
  auto record = samples::run_of(timing_method::event, {});
  record.run.frames = 45;
  record.interrupted = true;
  return record;
}

run_record in_detail() {
  auto record = samples::two_models_in_parts(400);
  samples::add_graphs(record);
  samples::add_operations(record);
  return record;
}

void write(const std::filesystem::path& folder, const char* name, const run_record& record) {
  std::ofstream file(folder / fmt::format("{}.html", name), std::ios::binary);
  file << run_html(record);
  file.close();
  if (!file) throw std::runtime_error(fmt::format("cannot write {}.html", name));
}

void write_all(const std::filesystem::path& folder) {
  write(folder, "event", samples::two_models(timing_method::event, 300));
  write(folder, "none", samples::two_models(timing_method::none, 45));
  write(folder, "schedule", samples::two_models_on_schedule(300));
  write(folder, "detail", in_detail());
  write(folder, "odd", odd_names());
  write(folder, "failed", failed());
  write(folder, "empty", without_frames());
  write(folder, "long", long_run());
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
