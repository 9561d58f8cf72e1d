// A saved result, as `graphline report` and `diff` read and show it.

#include <variant>

#include "framework/base/error.hpp"
#include "framework/report/csv/stamps_csv.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/store/record_reader.hpp"
#include "framework/report/trace/trace_json.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/report/result_texts.hpp"

namespace graphline {
namespace {

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

void show(const experiment_record& record) {
  const auto says = report::describe(record);
  show(says);
  report::as_text(report::diff(record, record, compare(record, record, {"a", "b"})));
  experiment_csv(record);
}

template <class Record>
requires(requires(const Record& record) {
  report::describe(record);
}) void show(const Record& record) {
  show(report::describe(record));
}

}  // namespace
}  // namespace graphline

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace graphline;
  static const temporary_folder folder;
  static const std::string path = folder.path() / "input.json";
  fuzz::write(path, data, size);
  fuzz::read_or_refuse<input_error>(
      [&] { std::visit([](const auto& record) { show(record); }, read_record(path)); });
  return 0;
}
