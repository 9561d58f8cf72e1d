#pragma once

#include <string>
#include <utility>

#include "framework/base/text_file.hpp"
#include "framework/report/json/result_kinds.hpp"

namespace graphline {

/// Reads all that a result file of at most 1 GiB holds, of any of these kinds in its first version
/// (`graphline.run/1`). Every report of what it answers is, byte for byte, the one that was made,
/// or would have been, from the record that the file was written from. Throws an `input_error` that
/// names the file and says what is wrong with it and what can be done: where it is no such result,
/// lacks a key (of another version's result), or is damaged.
any_record read_record(const std::string& path, named_by who = named_by::user);

/// The same of a file that must hold a calibration; throws an `input_error` where it holds
/// something else.
calibration_record read_calibration(const std::string& path);

/// "run, compare or roofline": the commands whose results can be read.
std::string commands_read();

/// Two that can be compared. Throws an `input_error` also where they are of different kinds.
std::pair<any_record, any_record> read_records(const std::string& before, const std::string& after);

}  // namespace graphline
