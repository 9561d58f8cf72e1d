#include "framework/report/csv/run_csv.hpp"

namespace graphline {

void write_run_csv(text_sink& to, const run_record& record) {
  to.append(csv_header);
  write_csv_rows(to, record);
}

std::uint64_t expected_csv_bytes(std::int64_t frames, std::size_t stages) {
  return csv_header.size() + expected_csv_row_bytes(frames, stages);
}

}  // namespace graphline
