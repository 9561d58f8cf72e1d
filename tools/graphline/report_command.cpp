#include <fmt/format.h>

#include <CLI/App.hpp>
#include <memory>
#include <string>
#include <variant>

#include "framework/base/utf8.hpp"
#include "framework/report/csv/stamps_csv.hpp"
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

exit_status make_reports(const report_arguments& given) {
  const auto record = read_record(given.result);
  const auto* run = std::get_if<run_record>(&record);
  const auto& trace = given.files.path("--trace");
  if (run == nullptr && !trace.empty()) {
    throw input_error(
        fmt::format("--trace {}: {} is not the result of one run; 'graphline run' with --trace "
                    "FILE makes a trace",
                    quote(trace, 200), quote(given.result, 200)));
  }
  const auto says = std::visit([](const auto& of) { return report::describe(of); }, record);
  result_outputs outputs(given.files, {given.result});
  if (outputs.empty()) outputs.show(says);
  if (run != nullptr) {
    outputs.write("--trace", [&](text_sink& to) { write_trace(to, *run); });
    outputs.write("--csv", [&](text_sink& to) { write_run_csv(to, *run); });
  }
  if (const auto* experiment = std::get_if<experiment_record>(&record)) {
    outputs.write("--csv", [&](text_sink& to) { write_experiment_csv(to, *experiment); });
  }
  outputs.write(says);  // what is not yet written
  outputs.finish();
  return exit_status::done;
}

}  // namespace

void add_report_command(CLI::App& program, action& chosen) {
  auto* command =
      add_command(program, "report", "Show a saved result, or write it in other formats");
  auto given = std::make_shared<report_arguments>();
  command->add_option("RESULT.json", given->result, "A --json result of " + commands_read())
      ->required();
  given->files.add_html(*command, "Write a page for a browser");
  given->files.add(*command, "--trace", "Write a trace of a run for Perfetto");
  given->files.add(*command, "--csv", "Write one row per frame and stage");
  given->files.add_markdown(*command);
  command->footer(
      "Without an option it prints the table. FILE may be - for standard output, RESULT.json may "
      "be\n"
      "- for standard input.");
  command->callback([&chosen, given] {
    if (given->result == "-") given->result = "/dev/stdin";
    chosen = [given] { return make_reports(*given); };
  });
}

}  // namespace graphline
