#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "framework/base/file/output_file.hpp"
#include "framework/record/calibration_record.hpp"

namespace graphline {

/// A folder of calibrations, one file per device. A file is named after backend and name of the
/// device and, for `host`, the number of compute threads.
class calibration_store {
 public:
  /// Uses the folder `calibrations` in `cache`, the result of `cache_folder`. If `cache` is empty,
  /// `find` returns nothing and `open` throws.
  explicit calibration_store(const std::filesystem::path& cache);

  /// Returns the path of a device's file, which may not exist; empty if `cache` was empty.
  std::string path_of(const device_properties& device) const;

  /// Opens the file of a device's calibration, and creates its folder. The caller must write and
  /// commit the file; until then, the previous calibration stays.
  /// @throws input_error if the file cannot be written or another process is writing it
  output_file open(const device_properties& device) const;

  /// Returns the calibration of a device; empty if there is none.
  /// @throws input_error if the file is not a valid calibration
  std::optional<calibration_record> find(const device_properties& device) const;

 private:
  std::filesystem::path folder_;
};

/// Returns "graphline calibrate --device host --threads 2".
std::string calibrate_command(const device_properties& device);

}  // namespace graphline
