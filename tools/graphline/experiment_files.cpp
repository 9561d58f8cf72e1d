#include "tools/graphline/experiment_files.hpp"

#include <CLI/App.hpp>

#include "framework/report/csv/experiment_csv.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/html/html_page.hpp"
#include "framework/report/json/json_beginning.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/store/write_result.hpp"
#include "tools/graphline/terminal_look.hpp"

namespace graphline {

void experiment_files::add_to(CLI::App& command) {
  command.add_option("--json", json, "Write the result, every sample included")->type_name("FILE");
  command.add_option("--csv", csv, "Write one row per trial, frame and stage")->type_name("FILE");
  command.add_option("--html", html, "Write a report with figures, to look at in a browser")
      ->type_name("FILE");
  command.add_option("--markdown", markdown, "Write tables and findings for a pull request")
      ->type_name("FILE");
}

result_outputs experiment_files::open(const sizes& expected, const std::vector<std::string>& read,
                                      std::vector<requested_output> more) const {
  more.insert(more.begin(), {{"--json", json, json_beginning, expected.json},
                             {"--csv", csv, experiment_csv_beginning, expected.csv},
                             {"--html", html, html_beginning},
                             {"--markdown", markdown, "## "}});
  return result_outputs(std::move(more), read);
}

void experiment_files::write(result_outputs& to, const experiment_record& record,
                             const experiment_analysis& analysis, bool quiet) const {
  const auto says = report::describe(record, analysis);
  if (!quiet) to.show(report::as_text(says, look_of(to.for_people())));
  to.write("--json", [&](text_sink& sink) { report::write_result(sink, says, record); });
  to.write("--csv", [&](text_sink& sink) { write_experiment_csv(sink, record); });
  to.write("--html", [&](text_sink& sink) { sink.append(report::as_html(says)); });
  to.write("--markdown", [&](text_sink& sink) { sink.append(report::as_markdown(says)); });
}

exit_status status_of(const experiment_record& record) {
  if (record.failure) return exit_status::run_failed;
  return record.interrupted ? exit_status::interrupted : exit_status::done;
}

}  // namespace graphline
