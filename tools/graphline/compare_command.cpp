#include <fmt/format.h>

#include <CLI/App.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/analysis/analyze.hpp"
#include "framework/base/units.hpp"
#include "framework/base/utf8.hpp"
#include "framework/campaign/experiment/experiment.hpp"
#include "framework/report/csv/stamps_csv.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/heading.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/render/text_table.hpp"
#include "framework/report/store/trial_store.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/common_options.hpp"
#include "tools/graphline/experiment_arguments.hpp"
#include "tools/graphline/gate_options.hpp"
#include "tools/graphline/interrupt.hpp"
#include "tools/graphline/known_calibration.hpp"
#include "tools/graphline/progress_line.hpp"
#include "tools/graphline/terminal.hpp"

namespace graphline {
namespace {

struct compare_arguments {
  experiment_arguments experiment;
  gate_options gates;
  std::optional<std::int64_t> trials;
  std::string time_limit;
  std::string store;
  result_files files;
  bool check = false;
  bool resume = false;
  bool overwrite = false;
  bool quiet = false;
};

/// Adds what the command line says to what the file says.
void apply(const compare_arguments& given, experiment_settings& how) {
  if (given.trials) how.trials = *given.trials;
  if (given.time_limit.empty()) return;
  const auto limit = parse_duration(given.time_limit);
  if (!limit || *limit <= 0) {
    throw input_error(fmt::format("--time-limit {}: expected a duration with its unit, such as 90s",
                                  given.time_limit));
  }
  how.time_limit = limit;
}

store_opening opening_of(const compare_arguments& given) {
  if (given.resume) return store_opening::resume;
  return given.overwrite ? store_opening::overwrite : store_opening::fresh;
}

result_outputs open_outputs(compare_arguments& given, const experiment_plan& planned,
                            const std::string& store) {
  const auto data = data_files(planned);
  std::vector<std::string> read(data.begin(), data.end());
  read.push_back(store);
  read.push_back(store + ".previous");
  for (const auto& source : planned.sources) read.push_back(source->name());
  return result_outputs(given.files, read);
}

/// Text for people while a result may go to standard output.
void say(const std::string& text) {
  print(stderr, text);
}

std::vector<nanoseconds> try_configurations(const experiment_plan& planned, trial_runner& runner,
                                            const stop_request& stop, bool quiet) {
  progress_line line(quiet);
  return try_out(planned, runner, &stop, [&](std::size_t done) {
    line.show("trying every configuration", static_cast<std::int64_t>(done),
              static_cast<std::int64_t>(planned.configurations.size()), "configurations");
  });
}

experiment_record run_trials(const experiment_plan& planned, trial_runner& runner,
                             trial_store& store, std::vector<trial_record> done,
                             const stop_request& stop, bool quiet) {
  progress_line line(quiet);
  experiment_options options;
  options.done = std::move(done);
  options.stop = &stop;
  options.on_trial = [&](const trial_record& trial) { store.add(trial); };
  options.on_progress = [&](const experiment_progress& at) {
    line.show(fmt::format("comparing, {}", at.configuration), at.done, at.total, "trials", at.left);
  };
  experiment_record record = run_experiment(planned, runner, options);
  if (!record.interrupted) store.end(record.stopped);
  return record;
}

/// With what is known of the device that it ran on.
experiment_record calibrated(experiment_record record) {
  std::vector<std::string> warnings;
  record.calibration = calibration_for(record, warnings);
  for (const auto& warning : warnings) say(fmt::format("warning: {}\n", printable(warning)));
  return record;
}

exit_status compare(compare_arguments& given) {
  experiment_plan planned = given.experiment.make_plan(true);
  apply(given, planned.how);
  given.gates.refuse([&](const gate& of) { return why_never_judged(of, planned); });
  device_set devices = given.experiment.devices();
  const stop_request& stop = stop_on_interrupt();
  const auto runner =
      make_trial_runner(planned, std::ref(devices), given.experiment.memory_budget());
  if (given.check) {
    const auto times = try_configurations(planned, *runner, stop, given.quiet);
    print(stdout, report::as_text(report::describe(planned, times), style_of(stdout)));
    return exit_status::done;
  }

  const std::string path = given.store.empty() ? planned.name + ".trials.jsonl" : given.store;
  auto outputs = open_outputs(given, planned, path);
  trial_store store(path, planned, opening_of(given));
  auto done = store.take_trials();
  // Of those that trials were kept of it is known that they run, and for how long.
  if (done.empty()) {
    const auto times = try_configurations(planned, *runner, stop, given.quiet);
    for (const auto& warning : report::forewarnings(planned)) {
      say(fmt::format("warning: {}\n", printable(warning)));
    }
    if (!given.quiet) say(paragraph(report::in_brief(planned, times), 0, style_of(stderr)));
  } else if (!given.quiet) {
    say(fmt::format("{}: going on from {}\n", printable(planned.name),
                    counted(static_cast<std::int64_t>(done.size()), "trial")));
  }
  const experiment_record record =
      calibrated(run_trials(planned, *runner, store, std::move(done), stop, given.quiet));

  end_measuring("a trial was done", record.interrupted && record.trials.empty());

  const auto analysis = analyze(record);
  write_experiment(outputs, record, analysis, given.quiet);
  report::gate_suite suite{"graphline compare " + record.name, {}, {}};
  if (!record.trials.empty()) {
    const auto& device = record.trials.front().members.front().device;
    suite.properties.emplace_back("device", device_of(device));
  }
  const auto status =
      given.gates.judge([&](const gate& of) { return judge(of, record, analysis.summary); },
                        std::move(suite), outputs, given.quiet, status_of(record));
  if (record.failure) say(fmt::format("\nerror: {}\n", *record.failure));
  if (!record.trials.empty() && status_of(record) != exit_status::done) {
    say(fmt::format("\n{} kept in {}; the same command with --resume continues\n",
                    counted(static_cast<std::int64_t>(record.trials.size()), "trial"),
                    quote(path, 200)));
  }
  outputs.finish();
  return status;
}

}  // namespace

void add_compare_command(CLI::App& program, action& chosen) {
  auto* command =
      add_command(program, "compare", "Compare configurations of a pipeline, with verdicts");
  auto given = std::make_shared<compare_arguments>();
  given->experiment.add_to(*command);
  command->add_flag("--check", given->check,
                    "Show every configuration and about how long it would take, then stop");
  command->add_option("--trials", given->trials, "Trials of each configuration, at most")
      ->type_name("N")
      ->check(in_range(1, 10000));
  command
      ->add_option("--time-limit", given->time_limit, "Begin no further block of trials after it")
      ->type_name("TIME");
  command
      ->add_option("--store", given->store,
                   "Where each trial is kept as it ends (default: NAME.trials.jsonl)")
      ->type_name("FILE");
  auto* resume = command->add_flag("--resume", given->resume,
                                   "Go on with the trials of the store; more --trials add to them");
  command->add_flag("--overwrite", given->overwrite, "Start over, whatever the store holds")
      ->excludes(resume);
  add_experiment_files(*command, given->files);
  given->gates.add_to(*command, gated::comparison, given->files);
  add_quiet_option(*command, given->quiet);
  command->footer("FILE may be - for standard output.");
  command->callback([&chosen, given] { chosen = [given] { return compare(*given); }; });
}

}  // namespace graphline
