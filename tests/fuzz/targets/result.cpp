// A saved result, as `graphline report` and `diff` read and show it.

#include <type_traits>
#include <variant>

#include "framework/base/error.hpp"
#include "framework/report/csv/experiment_csv.hpp"
#include "framework/report/csv/run_csv.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/html/experiment_page.hpp"
#include "framework/report/json/diff_json.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/store/record_reader.hpp"
#include "framework/report/store/result_reader.hpp"
#include "framework/report/terminal/diff_table.hpp"
#include "framework/report/terminal/experiment_table.hpp"
#include "framework/report/trace/trace_json.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/report/result_texts.hpp"

namespace graphline {
namespace {

void show(const experiment_record& record) {
  const auto summary = summarize(record);
  experiment_table(record, summary);
  experiment_html(record, summary);
  experiment_csv(record);
}

void show(const report::document& says) {
  report::as_text(says);
  report::as_html(says);
  report::as_csv(says);
  report::as_markdown(says);
  report::as_text(report::diff(says, says, "before", "after"));
}

void show(const run_record& record) {
  const auto analysis = analyze(record);
  show(report::describe(record, analysis));
  report::diff({"a", record, analysis}, {"b", record, analysis});
  run_csv(record);
  trace_json(record);
}

template <class Record>
requires(requires(const Record& record) {
  report::describe(record);
}) void show(const Record& record) {
  show(report::describe(record));
}

void show(const before_after<saved_result>& results) {
  std::visit(
      [&](const auto& before) {
        using kind = std::decay_t<decltype(before)>;
        if constexpr (!std::is_same_v<kind, saved_document>) {
          const auto diff = compare(before, std::get<kind>(results.after));
          diff_table(diff);
          diff_json(diff);
        }
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
