#include "tools/graphline/experiment_arguments.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/device/builtin/builtin_devices.hpp"
#include "framework/report/csv/stamps_csv.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "framework/run/pipeline/run_pipeline.hpp"
#include "framework/spec/experiment_reader.hpp"
#include "framework/spec/pipeline_reader.hpp"
#include "tools/graphline/common_options.hpp"
#include "tools/graphline/terminal.hpp"

namespace graphline {

void experiment_arguments::add_to(CLI::App& command) {
  command.add_option("EXPERIMENT.yaml", path_, "What to compare")->required();
  add_device_option(command, device_);
  add_no_plugins_option(command, plugins_);
}

experiment_plan experiment_arguments::make_plan(bool show_warnings) {
  plan_target machine = target_of(device_);
  machine.plugins = plugins_;
  diagnostics found;
  const experiment_spec spec = read_experiment(read_source(path_, named_by::user), found);
  // Planned all the same where something is wrong, so that everything is told at once.
  experiment_plan planned = plan_experiment(spec, stages_, machine, found);
  found.throw_if_errors();
  for (auto& data : checksums_of(data_files(planned))) planned.files.push_back(std::move(data));
  if (show_warnings && !found.all().empty()) print(stderr, fmt::format("{}\n", found.render()));
  return planned;
}

std::uint64_t experiment_arguments::memory_budget() const {
  // Half of it: pinned memory, libraries and whatever else the machine does need some too.
  for (const auto& backend : builtin_devices().backends()) {
    if (backend.name != builtin_devices().resolve({device_, 0})) continue;
    std::string reason;
    const auto found = backend.list(reason);
    if (!found.empty()) return found.front().memory_bytes / 2;
  }
  return 0;
}

void add_experiment_files(CLI::App& command, result_files& files) {
  files.add_json(command);
  files.add(command, "--csv", "Write one row per trial, frame and stage");
  files.add_html(command, "Write a report with figures, to look at in a browser");
  files.add_markdown(command);
}

void write_experiment(result_outputs& to, const experiment_record& record,
                      const experiment_analysis& analysis, bool quiet) {
  const auto says = report::describe(record, analysis);
  if (!quiet) to.show(says);
  if (quiet) print_findings(says.findings);
  to.write("--json", [&](text_sink& sink) { report::write_json(sink, says, &record); });
  to.write("--csv", [&](text_sink& sink) { write_experiment_csv(sink, record); });
  to.write(says);
}

exit_status status_of(const experiment_record& record) {
  if (record.failure) return exit_status::run_failed;
  return record.interrupted ? exit_status::interrupted : exit_status::done;
}

}  // namespace graphline
