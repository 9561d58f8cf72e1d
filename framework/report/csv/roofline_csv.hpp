#pragma once

#include <string>
#include <string_view>

#include "framework/record/roofline_record.hpp"

namespace graphline {

/// The first line of `roofline_csv`.
inline constexpr std::string_view roofline_csv_header =
    "level,stage,part,kind,on,precision,flops,bytes_read,bytes_written,intensity,bound,memory_ns,"
    "compute_ns,least_ns,earliest_ns,measured_ns,ratio,share_of_path\n";

/// A row for each stage, `level` being `stage`, and after it one for each of its parts, `part`.
/// What is not known is empty. Quoted as in RFC 4180, lines end in LF; UTF-8, with U+FFFD for bytes
/// of names that are not.
std::string roofline_csv(const roofline_record& record);

}  // namespace graphline
