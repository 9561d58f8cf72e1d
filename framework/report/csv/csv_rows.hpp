#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "framework/record/run_record.hpp"

namespace graphline {

/// What `append_csv_rows` writes, without what is put before it.
inline constexpr std::string_view csv_columns =
    "frame,stage,on,measure,begin_ns,end_ns,duration_ns\n";

/// A name as one field, quoted as in RFC 4180 where it must be; with U+FFFD for bytes that are not
/// UTF-8.
std::string csv_field(std::string_view name);

/// Every stamp of a run, a row each: see `run_csv`. `before`: fields that each row begins with,
/// with the comma that follows them, or nothing.
void append_csv_rows(std::string& text, const run_record& record, std::string_view before = {});

/// About how many bytes the rows of a run take, without what is put before them.
std::uint64_t expected_csv_row_bytes(std::int64_t frames, std::size_t stages);

/// About how many rows these are.
std::uint64_t expected_csv_rows(std::int64_t frames, std::size_t stages);

}  // namespace graphline
