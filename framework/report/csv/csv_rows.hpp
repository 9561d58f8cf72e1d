#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "framework/base/file/text_sink.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// What `write_csv_rows` writes, without what is put before it.
inline constexpr std::string_view csv_columns =
    "frame,stage,on,measure,begin_ns,end_ns,duration_ns\n";

/// A name as one field, quoted as in RFC 4180 where it must be; with U+FFFD for bytes that are not
/// UTF-8.
std::string csv_field(std::string_view name);

/// A figure as one field, which is empty where there is none.
template <class T>
std::string csv_number(const std::optional<T>& figure) {
  return figure ? fmt::to_string(*figure) : std::string();
}

/// Writes the rows of `write_run_csv`. `before`: fields that each row begins with, with the comma
/// that follows them, or nothing.
void write_csv_rows(text_sink& to, const run_record& record, std::string_view before = {});

/// About how many bytes the rows of a run take, without what is put before them.
std::uint64_t expected_csv_row_bytes(std::int64_t frames, std::size_t stages);

/// About how many rows these are.
std::uint64_t expected_csv_rows(std::int64_t frames, std::size_t stages);

}  // namespace graphline
