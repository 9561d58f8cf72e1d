#include "framework/report/store/calibration_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <system_error>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/file/file_trouble.hpp"
#include "framework/report/store/record_reader.hpp"

namespace graphline {

namespace {

namespace fs = std::filesystem;

/// Returns `text` with "-" in place of characters other than letters and digits.
std::string file_name(std::string_view text) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  constexpr std::size_t most = 120;  // keeps the file name within the limit of file systems
  std::string name;
  for (const char c : text) {
    if (plain.find(c) != plain.npos) {
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  name.resize(std::min(name.size(), most));
  name.erase(name.find_last_not_of('-') + 1);
  return name;
}

}  // namespace

calibration_store::calibration_store(const fs::path& cache) {
  if (!cache.empty()) folder_ = cache / "calibrations";
}

std::string calibration_store::path_of(const device_properties& device) const {
  if (folder_.empty()) return {};
  auto name = file_name(device.backend + " " + device.name);
  if (device.compute_threads > 0) {
    name +=
        fmt::format("-{}-thread{}", device.compute_threads, device.compute_threads == 1 ? "" : "s");
  }
  return (folder_ / (name + ".json")).string();
}

output_file calibration_store::open(const device_properties& device) const {
  auto path = path_of(device);
  if (path.empty()) {
    throw input_error(
        "cannot keep the calibration: there is no home folder; name a folder in GRAPHLINE_CACHE");
  }
  std::error_code problem;
  fs::create_directories(folder_, problem);
  if (problem) {
    throw input_error(
        fmt::format("cannot keep the calibration: cannot make the folder {}: {}; name another "
                    "folder in GRAPHLINE_CACHE",
                    shown_path(folder_.string()), problem.message()));
  }
  return output_file(std::move(path));
}

std::optional<calibration_record> calibration_store::find(const device_properties& device) const {
  const auto path = path_of(device);
  std::error_code unknown;
  if (path.empty() || !fs::exists(path, unknown)) return std::nullopt;
  return read_calibration(path);
}

std::string calibrate_command(const device_properties& device) {
  auto command = "graphline calibrate --device " + device.backend;
  if (device.compute_threads > 0) command += fmt::format(" --threads {}", device.compute_threads);
  return command;
}

}  // namespace graphline
