#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "framework/base/file/output_file.hpp"
#include "framework/record/calibration_record.hpp"

namespace graphline {

/// A folder of calibrations with one file per device. Files are named after the device's backend
/// and name and, for `host`, the number of compute threads.
class calibration_store {
 public:
  /// Uses the folder `calibrations` in `cache`, which `cache_folder` returns. If `cache` is empty,
  /// `find` finds nothing and `open` throws.
  explicit calibration_store(const std::filesystem::path& cache);

  /// Returns the file of a device's calibration, even if it does not exist; empty without a folder.
  std::string path_of(const device_properties& device) const;

  /// Opens the file of a device's calibration, and creates its folder. The caller writes and
  /// commits the file. An earlier calibration stays until then.
  /// @throws input_error if it cannot be written, or another process calibrates the device
  output_file open(const device_properties& device) const;

  /// Returns the calibration of a device; empty if there is none.
  /// @throws input_error if the file cannot be read as a calibration
  std::optional<calibration_record> find(const device_properties& device) const;

 private:
  std::filesystem::path folder_;
};

/// Returns the command that calibrates a device: "graphline calibrate --device host --threads 2".
std::string calibrate_command(const device_properties& device);

}  // namespace graphline
