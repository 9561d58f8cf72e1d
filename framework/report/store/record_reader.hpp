#pragma once

#include <string>
#include <utility>

#include "framework/base/text_file.hpp"
#include "framework/report/json/result_kinds.hpp"

namespace graphline {

/// Reads the record of a result file of at most 1 GiB. The result may be of any kind, in the first
/// version of its schema (`graphline.run/1`). Its reports equal the original's byte for byte.
/// @throws input_error that names the file, the fault and the remedy if the file is no such result,
/// lacks a key because another version wrote it, or is damaged
any_record read_record(const std::string& path, named_by who = named_by::user);

/// Reads a calibration. @throws input_error also if the file contains another kind of result
calibration_record read_calibration(const std::string& path);

/// Returns the commands whose results can be read: "run, compare or roofline".
std::string commands_read();

/// Reads two results to compare. @throws input_error also if their kinds differ
std::pair<any_record, any_record> read_records(const std::string& before, const std::string& after);

}  // namespace graphline
