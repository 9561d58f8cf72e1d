#include "tools/graphline/experiment_files.hpp"

#include "framework/analysis/experiment/experiment_findings.hpp"
#include "framework/report/csv/experiment_csv.hpp"
#include "framework/report/html/experiment_page.hpp"
#include "framework/report/html/html_page.hpp"
#include "framework/report/json/experiment_json.hpp"
#include "framework/report/json/json_beginning.hpp"
#include "framework/report/terminal/experiment_table.hpp"
#include "tools/graphline/terminal_look.hpp"

namespace graphline {

void experiment_files::add_to(CLI::App& command) {
  command.add_option("--json", json, "Write the result, every sample included")->type_name("FILE");
  command.add_option("--csv", csv, "Write one row per trial, frame and stage")->type_name("FILE");
  command.add_option("--html", html, "Write a report with figures, to look at in a browser")
      ->type_name("FILE");
}

result_outputs experiment_files::open(const sizes& expected,
                                      const std::vector<std::string>& read,
                                      std::vector<requested_output> more) const {
  more.insert(more.begin(), {{"--json", json, json_beginning, expected.json},
                             {"--csv", csv, experiment_csv_beginning, expected.csv},
                             {"--html", html, html_beginning, expected.html}});
  return result_outputs(std::move(more), read);
}

void experiment_files::write(result_outputs& to, const experiment_record& record,
                             const experiment_summary& summary, bool quiet) const {
  if (!quiet) to.show(experiment_table(record, summary, look_of(to.for_people())));
  to.write("--json", [&](text_sink& sink) {
    write_experiment_json(sink, record, summary, findings_of(record, summary));
  });
  to.write("--csv", [&](text_sink& sink) { write_experiment_csv(sink, record); });
  to.write("--html", [&](text_sink& sink) { sink.append(experiment_html(record, summary)); });
}

exit_status status_of(const experiment_record& record) {
  if (record.failure) return exit_status::run_failed;
  return record.interrupted ? exit_status::interrupted : exit_status::done;
}

}  // namespace graphline
