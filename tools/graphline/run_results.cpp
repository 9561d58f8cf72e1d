#include "tools/graphline/run_results.hpp"

#include <fmt/format.h>

#include "framework/analysis/analyze.hpp"
#include "framework/analysis/run/summary.hpp"
#include "framework/report/csv/stamps_csv.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/heading.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/trace/trace_json.hpp"
#include "tools/graphline/common_options.hpp"
#include "tools/graphline/terminal.hpp"

namespace graphline {

void run_results::add_files_to(CLI::App& command) {
  files.add_json(command);
  files.add_html(command, "Write a page for a browser: tables, charts and timeline");
  files.add(command, "--trace", "Write a trace for Perfetto");
  files.add_markdown(command);
  files.add(command, "--csv", "Write one row per frame and stage");
}

void run_results::add_gates_to(CLI::App& command) {
  gates.add_to(command, gated::run, files);
  add_quiet_option(command, quiet);
  command.footer("FILE may be - for standard output.");
}

exit_status run_results::report(result_outputs& outputs, const run_record& record,
                                bool interrupted) {
  const auto analysis = analyze(record);
  const auto says = report::describe(record, analysis);
  outputs.show(says, quiet);
  print_failure(record.failure);
  const auto ended = exit_status_of(record.failure.has_value(), interrupted);
  const auto status = gates.judge(
      [&](const gate& of) { return judge(of, record, analysis.summary); },
      {fmt::format("graphline {} {}", record.prediction ? "predict" : "run", record.pipeline),
       {{"device", device_of(record.device)}},
       {}},
      outputs, quiet, ended);
  outputs.write("--json", [&](text_sink& to) { report::write_json(to, says, &record); });
  outputs.write("--trace", [&](text_sink& to) { write_trace(to, record); });
  outputs.write("--csv", [&](text_sink& to) { write_run_csv(to, record); });
  outputs.write(says);
  outputs.finish();
  return status;
}

}  // namespace graphline
