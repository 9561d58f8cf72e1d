// Writes pages of made-up rooflines for the tests in this folder.
//
// usage: sample_rooflines FOLDER      one file per sample: FOLDER/NAME.html

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "tests/report/roofline_records.hpp"

namespace graphline {
namespace {

void write(const std::filesystem::path& folder, const char* name, const std::string& page) {
  std::ofstream file(folder / fmt::format("{}.html", name), std::ios::binary);
  file << page;
  file.close();
  if (!file) throw std::runtime_error(fmt::format("cannot write {}.html", name));
}

std::string roofline_html(const roofline_record& record) {
  return report::as_html(report::describe(record));
}

void write_all(const std::filesystem::path& folder) {
  write(folder, "processor", roofline_html(samples::calibrated_two_models()));
  write(folder, "gpu", roofline_html(samples::calibrated_gpu()));
  write(folder, "deep", roofline_html(samples::calibrated_gpu(60)));
  write(folder, "odd", roofline_html(samples::calibrated_odd_names()));
  write(folder, "uncalibrated", roofline_html(samples::uncalibrated()));
  write(folder, "empty", roofline_html(samples::calibrated_without_frames()));
  const auto run = samples::calibrated_two_models().layers;
  write(folder, "run", report::as_html(report::describe(run)));
}

}  // namespace
}  // namespace graphline

int main(int count, char** words) try {
  if (count != 2) {
    fmt::print(stderr, "usage: sample_rooflines FOLDER\n");
    return 2;
  }
  graphline::write_all(words[1]);
} catch (const std::exception& problem) {
  fmt::print(stderr, "sample_rooflines: {}\n", problem.what());
  return 1;
}
