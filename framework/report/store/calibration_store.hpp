#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "framework/base/file/output_file.hpp"
#include "framework/record/calibration_record.hpp"

namespace graphline {

/// Where calibrations are kept: one file for each device, named after its backend, its name and, of
/// `host`, the number of compute threads.
class calibration_store {
 public:
  /// In the folder `calibrations` of `cache`, as `cache_folder` answers it; an empty one keeps
  /// nothing.
  explicit calibration_store(const std::filesystem::path& cache);

  /// The file of a device's calibration, whether it is there or not; empty without a folder.
  std::string path_of(const device_properties& device) const;

  /// Opens that file before there is a calibration, as `calibration_json` has it, to commit to it.
  /// Makes the folder. What was kept before stays until then. Throws an `input_error` where nothing
  /// can be written there, or another calibration of the device is being made.
  output_file open(const device_properties& device) const;

  /// What is kept of a device; nothing where there is none. Throws an `input_error` where there is
  /// a file that cannot be read as a calibration.
  std::optional<calibration_record> find(const device_properties& device) const;

 private:
  std::filesystem::path folder_;
};

/// The command that measures a device: "graphline calibrate --device host --threads 2".
std::string calibrate_command(const device_properties& device);

}  // namespace graphline
