#include "framework/report/csv/run_csv.hpp"

namespace graphline {

std::string run_csv(const run_record& record) {
  std::string text(csv_header);
  text.reserve(
      expected_csv_bytes(static_cast<std::int64_t>(record.frames.size()), record.stages.size()));
  append_csv_rows(text, record);
  return text;
}

std::uint64_t expected_csv_bytes(std::int64_t frames, std::size_t stages) {
  return csv_header.size() + expected_csv_row_bytes(frames, stages);
}

}  // namespace graphline
