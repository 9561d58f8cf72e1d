#include <fmt/format.h>

#include <CLI/App.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "framework/analysis/analyze.hpp"
#include "framework/base/utf8.hpp"
#include "framework/campaign/experiment/experiment.hpp"
#include "framework/run/execute/session.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/common_options.hpp"
#include "tools/graphline/experiment_arguments.hpp"
#include "tools/graphline/interrupt.hpp"
#include "tools/graphline/pipeline_options.hpp"
#include "tools/graphline/progress_line.hpp"
#include "tools/graphline/terminal.hpp"

namespace graphline {
namespace {

struct overhead_arguments {
  pipeline_options pipeline;
  timing_experiment_options how;
  result_files files;
  bool quiet = false;
};

exit_status measure_overhead(overhead_arguments& given) {
  const stop_request& stop = stop_on_interrupt();
  plan p = given.pipeline.make_plan();
  const auto device = given.pipeline.open_device(p);
  result_outputs outputs(given.files, given.pipeline.files_of(p));
  add_checksums(p, outputs);

  session s(std::move(p), *device, &stop);
  progress_line line(given.quiet);
  given.how.stop = &stop;
  given.how.on_progress = [&line](const experiment_progress& at) {
    line.show("comparing timing methods", at.done, at.total, "trials", at.left);
  };
  const auto record = compare_timing_methods(s, given.how);
  line.erase();
  end_measuring("a trial was done", record.interrupted && record.trials.empty());

  write_experiment(outputs, record, analyze(record), given.quiet);
  if (record.failure) print(stderr, fmt::format("error: {}\n", printable(*record.failure)));
  outputs.finish();
  return status_of(record);
}

}  // namespace

void add_overhead_command(CLI::App& program, action& chosen) {
  auto* command =
      add_command(program, "overhead", "Show what each timing method costs on a pipeline");
  auto given = std::make_shared<overhead_arguments>();
  given->pipeline.add_to(*command, settings_but({"timing", "frames", "deadline"}));
  command->add_option("--trials", given->how.trials, "Trials of each method, in random order")
      ->type_name("N")
      ->check(in_range(1, 10000))
      ->capture_default_str();
  command
      ->add_option("-n,--frames", given->how.frames,
                   "Frames of a trial (default: about a quarter of a second of them, 3 to 45)")
      ->type_name("N")
      ->check(in_range(1, 1'000'000));
  add_experiment_files(*command, given->files);
  add_quiet_option(*command, given->quiet);
  command->footer("It is an experiment, as of compare. FILE may be - for standard output.");
  command->callback([&chosen, given] { chosen = [given] { return measure_overhead(*given); }; });
}

}  // namespace graphline
