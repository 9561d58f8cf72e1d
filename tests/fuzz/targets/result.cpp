// A saved result, as `graphline report` and `diff` read and show it.

#include <type_traits>
#include <variant>

#include "framework/base/error.hpp"
#include "framework/report/csv/experiment_csv.hpp"
#include "framework/report/csv/roofline_csv.hpp"
#include "framework/report/csv/run_csv.hpp"
#include "framework/report/html/experiment_page.hpp"
#include "framework/report/html/roofline_page.hpp"
#include "framework/report/html/run_page.hpp"
#include "framework/report/json/diff_json.hpp"
#include "framework/report/store/record_reader.hpp"
#include "framework/report/store/result_reader.hpp"
#include "framework/report/terminal/diff_table.hpp"
#include "framework/report/terminal/experiment_table.hpp"
#include "framework/report/terminal/roofline_table.hpp"
#include "framework/report/terminal/run_table.hpp"
#include "framework/report/trace/trace_json.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/report/result_texts.hpp"

namespace graphline {
namespace {

void show(const run_record& record) {
  const auto analysis = analyse(record);
  run_table(record, analysis);
  run_html(record, analysis);
  run_csv(record);
  trace_json(record);
}

void show(const experiment_record& record) {
  const auto summary = summarize(record);
  experiment_table(record, summary);
  experiment_html(record, summary);
  experiment_csv(record);
}

void show(const roofline_record& record) {
  roofline_table(record);
  roofline_html(record);
  roofline_csv(record);
}

void show(const before_after<saved_result>& results) {
  std::visit(
      [&](const auto& before) {
        const auto diff = compare(before, std::get<std::decay_t<decltype(before)>>(results.after));
        diff_table(diff);
        diff_json(diff);
      },
      results.before);
}

}  // namespace
}  // namespace graphline

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace graphline;
  static const temporary_folder folder;
  static const std::string path = folder.path() + "/input.json";
  fuzz::write(path, data, size);
  fuzz::read_or_refuse<input_error>(
      [&] { std::visit([](const auto& record) { show(record); }, read_record(path)); });
  fuzz::read_or_refuse<input_error>([&] { show(read_results(path, path)); });
  return 0;
}
