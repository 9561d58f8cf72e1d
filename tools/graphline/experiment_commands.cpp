// The commands that run experiments: compare and overhead.

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/analysis/analyze.hpp"
#include "framework/base/diagnostic.hpp"
#include "framework/base/units.hpp"
#include "framework/base/utf8.hpp"
#include "framework/campaign/experiment/experiment.hpp"
#include "framework/campaign/predict/predicted_campaigns.hpp"
#include "framework/plan/experiment_plan.hpp"
#include "framework/ranks/mpi_communicator.hpp"
#include "framework/report/csv/stamps_csv.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/heading.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/render/text_table.hpp"
#include "framework/report/store/trial_store.hpp"
#include "framework/run/execute/session.hpp"
#include "framework/spec/experiment_reader.hpp"
#include "framework/spec/pipeline_reader.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/common_options.hpp"
#include "tools/graphline/device_set.hpp"
#include "tools/graphline/gate_options.hpp"
#include "tools/graphline/interrupt.hpp"
#include "tools/graphline/known_calibration.hpp"
#include "tools/graphline/rank_support.hpp"
#include "tools/graphline/terminal.hpp"

namespace graphline {
namespace {

void add_experiment_files(CLI::App& command, result_files& files) {
  files.add_json(command);
  files.add(command, "--csv", "Write one row per trial, frame and stage");
  files.add_html(command, "Write a page for a browser: tables and charts");
  files.add_markdown(command);
}

void write_experiment(result_outputs& to, const experiment_record& record,
                      const experiment_analysis& analysis, bool quiet) {
  const auto says = report::describe(record, analysis);
  to.show(says, quiet);
  to.write("--json", [&](text_sink& sink) { report::write_json(sink, says, &record); });
  to.write("--csv", [&](text_sink& sink) { write_experiment_csv(sink, record); });
  to.write(says);
}

exit_status status_of(const experiment_record& record) {
  return exit_status_of(record.failure.has_value(), record.interrupted);
}

struct compare_arguments {
  std::string experiment;
  std::string device = "auto";
  plugin_use plugins = plugin_use::load;
  gate_options gates;
  std::optional<std::int64_t> trials;
  std::string time_limit;
  std::string store;
  std::vector<std::string> predict;
  result_files files;
  bool check = false;
  bool resume = false;
  bool overwrite = false;
  bool quiet = false;
};

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

result_outputs open_outputs(const compare_arguments& given, const experiment_plan& planned,
                            std::vector<std::string> read) {
  const auto data = data_files(planned);
  read.insert(read.end(), data.begin(), data.end());
  for (const auto& source : planned.sources) read.push_back(source->name());
  return result_outputs(given.files, read);
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
                             experiment_options options, const stop_request& stop, bool quiet) {
  progress_line line(quiet);
  options.stop = &stop;
  options.on_progress = [&](const experiment_progress& at) {
    line.show(fmt::format("comparing, {}", at.configuration), at.done, at.total, "trials", at.left);
  };
  return run_experiment(planned, runner, options);
}

/// Shows and writes the result, and judges the gates.
exit_status report_comparison(const compare_arguments& given, const experiment_record& record,
                              result_outputs& outputs) {
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
  print_failure(record.failure);
  return status;
}

exit_status predict_comparison(compare_arguments given) {
  const auto sources = read_sources(given.predict, "--predict");
  if (given.device == "auto") given.device = sources.front().run.device.backend;
  stage_registry stages = builtin_stages();
  experiment_plan planned =
      plan_experiment_file(given.experiment, given.device, plan_use::check, stages, given.plugins);
  for (auto& file : checksums_of({given.predict.begin(), given.predict.end()})) {
    planned.files.push_back(std::move(file));
  }
  apply(given, planned.how);
  given.gates.refuse([&](const gate& of) { return why_never_judged(of, planned); });
  const stop_request& stop = stop_on_interrupt();
  const auto runner = make_predicted_trials(planned, sources);
  auto outputs = open_outputs(given, planned, given.predict);
  print_warnings(disturbed_sources(sources));
  print_warnings(report::forewarnings(planned));
  const auto record = run_trials(planned, *runner, {}, stop, given.quiet);
  const auto status = report_comparison(given, record, outputs);
  outputs.finish();
  return status;
}

/// A comparison that is ready to begin.
class prepared_comparison {
 public:
  /// @param leads Print warnings.
  /// @param ranks That run blocks.
  prepared_comparison(const compare_arguments& given, const stop_request& stop, bool leads = true,
                      std::size_t ranks = 1)
      : given_(given),
        stop_(stop),
        ranks_(ranks),
        planned_(plan_experiment_file(given.experiment, given.device, plan_use::run, stages_,
                                      given.plugins, leads)),
        devices_(given.device) {
    apply(given, planned_.how);
    given.gates.refuse([&](const gate& of) { return why_never_judged(of, planned_, ranks_); });
    runner_ = make_trial_runner(planned_, std::ref(devices_), devices_.memory_budget());
  }

  /// Tries every configuration, without a store.
  void try_out() { times_ = try_configurations(planned_, *runner_, stop_, given_.quiet); }

  /// Opens the store and the outputs. Tries every configuration unless stored trials already show
  /// that they run, and how long they take.
  void open() {
    path_ = given_.store.empty() ? planned_.name + ".trials.jsonl" : given_.store;
    outputs_.emplace(open_outputs(given_, planned_, {path_, path_ + ".previous"}));
    store_.emplace(path_, planned_, opening_of(given_));
    done_ = store_->take_trials();
    kept_ = std::ssize(done_);
    if (done_.empty()) try_out();
  }

  /// Prints what follows, to standard error, because a result may go to standard output.
  void announce() const {
    if (!times_.empty()) print_warnings(report::forewarnings(planned_, ranks_));
    if (given_.quiet) return;
    if (times_.empty()) {
      print(stderr, fmt::format("{}: going on from {}\n", printable(planned_.name),
                                counted(std::ssize(done_), "trial")));
    } else {
      print(stderr, paragraph(report::in_brief(planned_, times_, ranks_), 0, style_of(stderr)));
    }
  }

  void print_check() const {
    print(stdout, report::as_text(report::describe(planned_, times_, ranks_), style_of(stdout)));
  }

  experiment_record run(experiment_options options = {}) {
    options.done = std::move(done_);
    options.on_trial = [&](const trial_record& trial) {
      store_->add(trial);
      ++kept_;
    };
    auto record = run_trials(planned_, *runner_, std::move(options), stop_, given_.quiet);
    if (!record.interrupted) store_->end(record.stopped);
    return record;
  }

  exit_status report(experiment_record record) {
    std::vector<std::string> warnings;
    record.calibration = calibration_for(record, warnings);
    print_warnings(warnings);
    const auto status = report_comparison(given_, record, *outputs_);
    if (status_of(record) != exit_status::done) print_kept();
    outputs_->finish();
    return status;
  }

  void print_kept() const {
    if (kept_ == 0) return;
    print(stderr, fmt::format("\n{} kept in {}; the same command with --resume continues\n",
                              counted(kept_, "trial"), quote(path_, 200)));
  }

  const experiment_plan& planned() const noexcept { return planned_; }
  trial_runner& runner() noexcept { return *runner_; }
  const device_properties& device() {
    return devices_(planned_.configurations.front().members.front()).front().properties();
  }

 private:
  const compare_arguments& given_;
  const stop_request& stop_;
  std::size_t ranks_;
  stage_registry stages_ = builtin_stages();
  experiment_plan planned_;
  device_set devices_;
  std::unique_ptr<trial_runner> runner_;
  std::vector<nanoseconds> times_;  ///< of a trial of each configuration, if they were tried
  std::string path_;
  std::optional<result_outputs> outputs_;
  std::optional<trial_store> store_;
  std::vector<trial_record> done_;  ///< before
  std::ptrdiff_t kept_ = 0;         ///< trials in the store
};

exit_status compare(const compare_arguments& given) {
  if (!given.predict.empty()) return predict_comparison(given);
  prepared_comparison ready(given, stop_on_interrupt());
  if (given.check) {
    ready.try_out();
    ready.print_check();
    return exit_status::done;
  }
  ready.open();
  ready.announce();
  return ready.report(ready.run());
}

/// Runs blocks on this rank and, on rank 0, reports those of all.
exit_status compare_on_ranks(compare_arguments& given, communicator& messages,
                             const stop_request& interrupted) {
  const bool leads = messages.rank() == 0;
  if (!leads) {
    given.files.clear();
    given.quiet = true;
  }
  given.device = device_of_rank(given.device, messages.rank(), messages.local_rank());
  std::optional<prepared_comparison> ready;
  rank_job job(messages, records_as_json(), interrupted);
  const auto refused = prepare_job(job, [&] {
    if (!given.predict.empty()) {
      throw input_error("--predict: predictions run on one rank; start without MPI's launcher");
    }
    ready.emplace(given, job.stop(), leads, static_cast<std::size_t>(messages.size()));
    leads && !given.check ? ready->open() : ready->try_out();
    std::string texts;
    for (const auto& source : ready->planned().sources) texts += source->text();
    for (const auto& [file, checksum] : ready->planned().files) texts += checksum;
    return fmt::format("{} on {}", what_runs(ready->planned().name, "files", texts),
                       ready->device().backend);
  });
  if (refused) return *refused;
  const trial_place place{messages.rank(), job.host(), usable_cores()};
  auto warnings = shared_with_ranks(messages, ready->device());
  for (auto& text : warnings) text = fmt::format("rank {}: {}", messages.rank(), text);
  const auto text = trials_as_json(ready->planned());
  job.if_stuck([] { return std::nullopt; },
               [&](ranks_record*, const std::string& why) {
                 print_error(why);
                 ready->print_kept();
               });
  if (!leads && !given.check) {
    job.begin_work();
    run_assigned_blocks(job, place, warnings, ready->planned(), ready->runner(), text);
    job.end_work();
  }
  if (!leads || given.check) {
    if (leads) ready->print_check();
    return job.finish(exit_status::done);
  }
  ready->announce();
  print_warnings(warnings);
  auto status = exit_status::run_failed;
  try {
    job.begin_work();
    rank_helpers helpers(job, static_cast<std::size_t>(messages.size()), text);
    auto record = ready->run({.place = place, .warnings = warnings, .helpers = &helpers});
    if (const auto why = job.failure()) {
      record.failure = record.stopped = *why;
      record.interrupted = false;
    }
    job.end_work();
    status = ready->report(std::move(record));
  } catch (const std::exception& e) {
    job.end_work();
    print_error(reason_of(e));
    status = status_after(e);
  }
  return job.finish(status);
}

struct overhead_arguments {
  pipeline_options pipeline;
  timing_experiment_options how;
  result_files files;
  bool quiet = false;
};

exit_status measure_overhead(overhead_arguments& given) {
  const stop_request& stop = stop_on_interrupt();
  plan p = given.pipeline.make_plan();
  const auto devices = given.pipeline.open_devices_of(p);
  result_outputs outputs(given.files, given.pipeline.files_of(p));
  add_checksums(p, outputs);

  session s(std::move(p), devices.group(), &stop);
  progress_line line(given.quiet);
  given.how.stop = &stop;
  given.how.on_progress = [&line](const experiment_progress& at) {
    line.show("comparing timing methods", at.done, at.total, "trials", at.left);
  };
  const auto record = compare_timing_methods(s, given.how);
  line.erase();
  end_measuring("a trial was done", record.interrupted && record.trials.empty());

  write_experiment(outputs, record, analyze(record), given.quiet);
  print_failure(record.failure);
  outputs.finish();
  return status_of(record);
}

}  // namespace

void add_compare_command(CLI::App& program, action& chosen) {
  auto* command =
      add_command(program, "compare", "Compare configurations of a pipeline, with verdicts");
  auto given = std::make_shared<compare_arguments>();
  command->add_option("EXPERIMENT.yaml", given->experiment, "The experiment")->required();
  add_device_option(*command, given->device);
  add_no_plugins_option(*command, given->plugins);
  auto* check = command->add_flag("--check", given->check,
                                  "Show the configurations and the estimated run time, then stop");
  command->add_option("--trials", given->trials, "Maximum number of trials of each configuration")
      ->type_name("N")
      ->check(in_range(1, 10000));
  command->add_option("--time-limit", given->time_limit, "Begin no block of trials after this time")
      ->type_name("TIME");
  auto* store =
      command
          ->add_option("--store", given->store,
                       "File that keeps each trial when it ends (default: NAME.trials.jsonl)")
          ->type_name("FILE");
  auto* resume = command->add_flag("--resume", given->resume,
                                   "Continue with the stored trials; a larger --trials adds some");
  auto* overwrite =
      command->add_flag("--overwrite", given->overwrite, "Start over and replace stored trials");
  overwrite->excludes(resume);
  auto* predict = add_predict_option(*command, given->predict);
  for (auto* measured : {check, store, resume, overwrite}) predict->excludes(measured);
  add_experiment_files(*command, given->files);
  given->gates.add_to(*command, gated::comparison, given->files);
  add_quiet_option(*command, given->quiet);
  command->footer("FILE may be - for standard output.");
  command->callback([&chosen, given] {
    chosen = [given] {
      if (ranks_of_job() == 1) return compare(*given);
      return on_ranks([&](communicator& messages, const stop_request& interrupted) {
        return compare_on_ranks(*given, messages, interrupted);
      });
    };
  });
}

void add_overhead_command(CLI::App& program, action& chosen) {
  auto* command = add_command(program, "overhead", "Measure the cost of each timing method");
  auto given = std::make_shared<overhead_arguments>();
  given->pipeline.add_to(*command, settings_except({"timing", "frames", "deadline", "late"}));
  command->add_option("--trials", given->how.trials, "Trials of each method, in random order")
      ->type_name("N")
      ->check(in_range(1, 10000))
      ->capture_default_str();
  command
      ->add_option("-n,--frames", given->how.frames,
                   "Frames per trial (default: about a quarter of a second, 3 to 45 frames)")
      ->type_name("N")
      ->check(in_range(1, 1'000'000));
  add_experiment_files(*command, given->files);
  add_quiet_option(*command, given->quiet);
  command->footer(
      "The result is an experiment, like that of compare. FILE may be - for standard\n"
      "output.");
  command->callback([&chosen, given] { chosen = [given] { return measure_overhead(*given); }; });
}

}  // namespace graphline
