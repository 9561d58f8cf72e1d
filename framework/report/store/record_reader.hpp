#pragma once

#include <memory>
#include <string>
#include <utility>

#include "framework/base/text_file.hpp"
#include "framework/report/json/result_kinds.hpp"

namespace graphline {

/// Reads the record from a result file of any kind, up to 1 GiB. The schema must have version 1
/// (`graphline.run/1`). Reports of the record equal the original reports byte for byte.
/// @throws input_error with file, fault and remedy, if the file is not such a result, is damaged,
/// or lacks a key because another version wrote it
any_record read_record(const std::string& path, named_by who = named_by::user);

/// Reads a record from the text of a result file.
any_record read_record(const std::shared_ptr<const source_text>& source);

/// Reads a calibration. @throws input_error also if the file contains another kind of result
calibration_record read_calibration(const std::string& path);

/// Returns the commands whose results can be read: "run, compare or roofline".
std::string commands_read();

/// Reads two results of the same kind. @throws input_error also if their kinds differ
std::pair<any_record, any_record> read_records(const std::string& before, const std::string& after);

}  // namespace graphline
