#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/utf8.hpp"
#include "framework/plan/planner.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "framework/run/execute/session.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/common_options.hpp"
#include "tools/graphline/interrupt.hpp"
#include "tools/graphline/known_calibration.hpp"
#include "tools/graphline/result_outputs.hpp"
#include "tools/graphline/terminal.hpp"

namespace graphline {
namespace {

struct roofline_arguments {
  pipeline_options pipeline;
  result_files files;
  bool quiet = false;
};

/// Returns the record, without frames, of a run that was skipped.
run_record not_run(const run_record& other, timing_method timing) {
  run_record record;
  record.pipeline = other.pipeline;
  record.run = other.run;
  record.run.timing = timing;
  record.device = other.device;
  record.devices = other.devices;
  record.environment = other.environment;
  return record;
}

/// Runs the pipeline with timing `event`. If the run completes and a stage has parts, runs it again
/// with timing `layers`.
roofline_record measure_roofline(session& s, const stop_request& stop, progress_line& line) {
  roofline_record record;
  const auto run = [&](timing_method timing) {
    run_options options;
    options.timing = timing;
    options.stop = &stop;
    options.on_progress = [&](const progress& at) {
      const auto* of = timing == timing_method::event ? "stages" : "their parts";
      line.show(fmt::format("{} {}", at.warmup ? "warming up for" : "measuring", of), at.done,
                at.total, "frames");
    };
    return s.run(options);
  };
  record.stages = run(timing_method::event);
  const auto methods = s.timing_methods();
  const bool has_parts = std::ranges::find(methods, timing_method::layers) != methods.end();
  const bool go_on = has_parts && !record.stages.failure && !record.stages.interrupted;
  record.layers =
      go_on ? run(timing_method::layers) : not_run(record.stages, timing_method::layers);
  return record;
}

exit_status compare_with_roofline(roofline_arguments& given) {
  const stop_request& stop = stop_on_interrupt();
  plan p = given.pipeline.make_plan(set_stages_apart);
  const auto devices = given.pipeline.open_devices_of(p);
  std::vector<calibration_record> saved;
  const device_group group = devices.group();
  for (const device* on : group.all()) {
    saved.push_back(saved_calibration(on->properties()));  // throws if it is not calibrated
  }
  result_outputs outputs(given.files, given.pipeline.files_of(p));
  add_checksums(p, outputs);

  session s(std::move(p), group, &stop);
  progress_line line(given.quiet);
  auto record = measure_roofline(s, stop, line);
  line.erase();
  end_measuring("a frame was done", record.stages.interrupted && record.stages.frames.empty());
  for (std::size_t d = 0; d < saved.size(); ++d) {
    const device& on = group[d];
    // This run's environment contains the versions of the libraries of its stages.
    const auto held = as_held(saved[d], on.properties(), record.stages.environment);
    calibration_of(record.stages, d) = calibration_of(record.layers, d) = held;
  }

  const auto analysis = analyze(record);
  const auto says = report::describe(record, analysis);
  outputs.show(says, given.quiet);
  for (const auto* run : {&record.stages, &record.layers}) print_failure(run->failure);
  outputs.write("--json", [&](text_sink& to) { report::write_json(to, says, &record); });
  outputs.write(says);
  outputs.finish();
  return exit_status_of(record.stages.failure || record.layers.failure,
                        record.stages.interrupted || record.layers.interrupted);
}

}  // namespace

void add_roofline_command(CLI::App& program, action& chosen) {
  auto* command = add_command(program, "roofline",
                              "Compare each stage and layer with the roofline time of its device");
  auto given = std::make_shared<roofline_arguments>();
  given->pipeline.add_to(*command, {"graphs", "wait", "frames", "warmup", "seed", "threads"});
  given->files.add_json(*command);
  given->files.add_html(*command, "Write a page for a browser: the roofline plot and tables");
  given->files.add(*command, "--csv", "Write a row for each stage and part");
  given->files.add_markdown(*command);
  add_quiet_option(*command, given->quiet);
  command->footer(
      "It runs the pipeline for the times of its stages, again for those of their parts, and\n"
      "compares them with the ceilings that 'graphline calibrate' measured. Stages and frames run\n"
      "one after another; the file's strategy, frames in flight and arrivals do not apply. FILE "
      "may\n"
      "be - for standard output. docs/roofline.md explains the metrics.");
  command->callback(
      [&chosen, given] { chosen = [given] { return compare_with_roofline(*given); }; });
}

}  // namespace graphline
