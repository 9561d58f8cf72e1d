#pragma once

#include <string>
#include <utility>

#include "framework/base/text_file.hpp"
#include "framework/report/json/result_kinds.hpp"

namespace graphline {

/// Reads the record of a result file of at most 1 GiB, of any kind in its first version
/// (`graphline.run/1`). Reports of it equal those of the original record byte for byte.
/// @throws input_error that names the file, the fault and the remedy if it is no such result, lacks
/// a
///   key (another version wrote it), or is damaged
any_record read_record(const std::string& path, named_by who = named_by::user);

/// Reads a calibration. @throws input_error also if the file holds another kind of result
calibration_record read_calibration(const std::string& path);

/// The commands whose results can be read: "run, compare or roofline".
std::string commands_read();

/// Reads two results to compare. @throws input_error also if their kinds differ
std::pair<any_record, any_record> read_records(const std::string& before, const std::string& after);

}  // namespace graphline
