#pragma once

#include <functional>
#include <string_view>

#include "framework/base/file/text_sink.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Writes what `text` writes in the gzip format (RFC 1952). Throws `run_error` where there is no
/// memory to compress with.
void write_gzip(text_sink& to, const std::function<void(text_sink&)>& text);

/// A trace as a file has it: compressed where the file's name ends in ".gz", which viewers open too.
void write_trace_file(text_sink& to, const run_record& record, std::string_view path);

}  // namespace graphline
