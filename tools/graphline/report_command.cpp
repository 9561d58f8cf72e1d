#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "framework/base/utf8.hpp"
#include "framework/report/csv/experiment_csv.hpp"
#include "framework/report/csv/run_csv.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/store/record_reader.hpp"
#include "framework/report/trace/trace_json.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/result_outputs.hpp"
#include "tools/graphline/terminal.hpp"

namespace graphline {
namespace {

struct report_arguments {
  std::string result;
  result_files files;
};

void make_reports(report_arguments& given, const run_record& record) {
  result_outputs outputs(given.files, {given.result});
  const auto says = report::describe(record);
  if (outputs.empty()) outputs.show(says);
  outputs.write("--trace", [&](text_sink& to) { write_trace(to, record); });
  outputs.write("--csv", [&](text_sink& to) { write_run_csv(to, record); });
  outputs.write(says);
  outputs.finish();
}

/// Of what is no single run. `what`: "a roofline". `csv`: where its CSV is not a table of
/// the document.
void make_reports(report_arguments& given, const report::document& says, std::string_view what,
                  const std::function<void(text_sink&)>& csv = {}) {
  if (!given.files.path("--trace").empty()) {
    throw input_error(fmt::format(
        "--trace {}: {} holds {}, and a trace shows one run; make it by 'graphline run' with "
        "--trace FILE",
        quote(given.files.path("--trace"), 200), quote(given.result, 200), what));
  }
  result_outputs outputs(given.files, {given.result});
  if (outputs.empty()) outputs.show(says);
  if (csv) outputs.write("--csv", csv);
  outputs.write(says);
  outputs.finish();
}

void make_reports(report_arguments& given, const experiment_record& record) {
  make_reports(given, report::describe(record), "an experiment",
               [&](text_sink& to) { write_experiment_csv(to, record); });
}

void make_reports(report_arguments& given, const roofline_record& record) {
  make_reports(given, report::describe(record), "a roofline");
}

void make_reports(report_arguments& given, const calibration_record& record) {
  make_reports(given, report::describe(record), "a calibration");
}

void make_reports(report_arguments& given, const capacity_record& record) {
  make_reports(given, report::describe(record), "a search for the highest rate");
}

exit_status make_reports(report_arguments& given) {
  std::visit([&](const auto& record) { make_reports(given, record); }, read_record(given.result));
  return exit_status::done;
}

}  // namespace

void add_report_command(CLI::App& program, action& chosen) {
  auto* command = add_command(program, "report", "Show a saved result, or make files of it");
  auto given = std::make_shared<report_arguments>();
  command
      ->add_option("RESULT.json", given->result,
                   "What run, compare, roofline, calibrate or capacity wrote to --json")
      ->required();
  given->files.add_html(*command, "Write it as a page for a browser");
  given->files.add(*command, "--trace", "Write a run as a trace for Perfetto");
  given->files.add(*command, "--csv", "Write one row per frame and stage");
  given->files.add_markdown(*command);
  command->footer(
      "Without FILE it prints the table. FILE may be - for standard output, RESULT.json for "
      "standard input.");
  command->callback([&chosen, given] {
    if (given->result == "-") given->result = "/dev/stdin";
    chosen = [given] { return make_reports(*given); };
  });
}

}  // namespace graphline
