#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "framework/base/file/output_file.hpp"
#include "framework/record/calibration_record.hpp"

namespace graphline {

/// Folder of calibrations: one file per device, named after its backend, its name and, for `host`,
/// the number of compute threads.
class calibration_store {
 public:
  /// Uses the folder `calibrations` of `cache`, which `cache_folder` returns; stores nothing if
  /// empty.
  explicit calibration_store(const std::filesystem::path& cache);

  /// The file of a device's calibration, existing or not; empty without a folder.
  std::string path_of(const device_properties& device) const;

  /// Opens the file for a calibration, in the form of `calibration_json`, which the caller commits.
  /// Creates the folder. An earlier calibration stays until then.
  /// @throws input_error if it cannot be written, or another process calibrates the device
  output_file open(const device_properties& device) const;

  /// The calibration of a device, if any.
  /// @throws input_error if the file cannot be read as a calibration
  std::optional<calibration_record> find(const device_properties& device) const;

 private:
  std::filesystem::path folder_;
};

/// The command that measures a device: "graphline calibrate --device host --threads 2".
std::string calibrate_command(const device_properties& device);

}  // namespace graphline
