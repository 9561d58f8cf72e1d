#include "framework/report/trace/trace_file.hpp"

#include "framework/report/trace/gzip.hpp"
#include "framework/report/trace/trace_json.hpp"

namespace graphline {

namespace {

bool is_compressed(std::string_view path) {
  return path.ends_with(".gz");
}

}  // namespace

std::string_view trace_file_beginning(std::string_view path) {
  return is_compressed(path) ? gzip_beginning : trace_beginning;
}

std::uint64_t expected_trace_file_bytes(std::string_view path, std::int64_t frames,
                                        std::size_t stages) {
  constexpr std::uint64_t shorter = 5;  // traces compress to a fifth or less
  return expected_trace_bytes(frames, stages) / (is_compressed(path) ? shorter : 1);
}

void write_trace_file(text_sink& to, const run_record& record, std::string_view path) {
  if (!is_compressed(path)) return write_trace(to, record);
  write_gzip(to, [&](text_sink& plain) { write_trace(plain, record); });
}

}  // namespace graphline
