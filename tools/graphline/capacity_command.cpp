#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/analyze.hpp"
#include "framework/analysis/experiment/experiment_labels.hpp"
#include "framework/base/units.hpp"
#include "framework/base/utf8.hpp"
#include "framework/campaign/capacity/capacity_search.hpp"
#include "framework/campaign/experiment/trial_runner.hpp"
#include "framework/campaign/predict/predicted_campaigns.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/common_options.hpp"
#include "tools/graphline/device_set.hpp"
#include "tools/graphline/interrupt.hpp"
#include "tools/graphline/result_outputs.hpp"
#include "tools/graphline/terminal.hpp"

namespace graphline {
namespace {

constexpr std::int64_t highest_frames = 10'000'000;

struct capacity_arguments {
  pipeline_options pipeline;
  std::string percentile = "p95";
  std::string under;
  std::string arrivals;
  std::string within = "2%";
  std::int64_t frames = 0;
  std::vector<std::string> predict;
  std::string configuration;
  result_files files;
  bool quiet = false;
};

/// Returns the bound from --under, or else the deadline.
/// @param pipeline Its name, for the message
nanoseconds read_bound(const std::string& text, const std::optional<nanoseconds>& deadline,
                       const std::string& pipeline) {
  if (text.empty() && deadline) return *deadline;
  if (text.empty()) {
    throw input_error(
        fmt::format("capacity needs a bound on the time of a frame: --under 60ms, or a 'deadline' "
                    "in the 'run' section of pipeline '{}'",
                    pipeline));
  }
  const auto bound = parse_duration(text);
  if (!bound || *bound <= 0) {
    throw input_error(fmt::format(
        "--under {}: expected a time above zero with its unit, ns, us, ms or s: 60ms", text));
  }
  return *bound;
}

double read_within(const std::string& text) {
  const auto part = parse_percent(text);
  if (!part || *part < 0.001 || *part > 0.5) {
    throw input_error(fmt::format(
        "--within {}: expected a percentage of the rate from 0.1% to 50%, such as 2%", text));
  }
  return *part;
}

/// Sets the arrivals: the option's, else the file's, else constant. The search sets the rate.
void set_load(settings& run, const std::string& arrivals) {
  if (!arrivals.empty()) {
    run.arrival = *from_word<arrival>(arrivals);
  } else if (run.arrival == arrival::closed) {
    run.arrival = arrival::constant;
  }
  run.rate = 1;
}

/// Returns the frames per run; 0 lets the search choose.
/// @param p If not null, limits the frames to those of its trace.
std::int64_t read_frames(std::int64_t given, double percentile, const plan* p) {
  const auto all = given > 0 ? given : p != nullptr && p->arrivals ? highest_frames : 0;
  const auto frames = p != nullptr ? frames_that_arrive(*p, all) : all;
  const auto least = least_capacity_frames(percentile);
  if (frames == 0 || frames >= least) return frames;
  const auto what = frames < all
                        ? fmt::format("{}: its {} frames are too few", *p->run.arrival_file, frames)
                        : fmt::format("--frames {}", given);
  throw input_error(fmt::format("{}: a verdict on {} needs at least {} frames per run", what,
                                percentile_name(percentile), least));
}

/// A search that is ready to begin.
struct ready_search {
  capacity_settings how;
  capacity_options options;
  probe_function probe;
};

/// Reads what does not depend on the pipeline.
capacity_settings read_how(const capacity_arguments& given) {
  capacity_settings how;
  how.percentile =
      std::ranges::find(shown_percentiles, given.percentile, &word<double>::first)->second;
  how.within = read_within(given.within);
  return how;
}

/// Runs the search; reports and stores its result.
exit_status find_and_report(ready_search of, const capacity_arguments& given,
                            result_outputs& outputs) {
  const unit in = of.options.set ? unit::none : unit::frames_per_second;
  progress_line line(given.quiet);
  of.options.on_progress = [&](const capacity_progress& at) {
    auto activity = at.rate ? to_text(quantity{*at.rate, in}) : "closed loop";
    if (of.options.set) activity = "factor " + activity;
    if (at.low && at.high) {
      activity += fmt::format(", so far {} to {}", to_text(quantity{*at.low, in}),
                              to_text(quantity{*at.high, in}));
    }
    line.show(activity, at.run.done, at.run.total, "frames");
  };
  const auto record = find_capacity(of.how, of.probe, of.options);
  line.erase();
  end_measuring("a frame was done",
                record.interrupted && record.runs.empty() &&
                    (!record.closed_loop || record.closed_loop->frames.empty()));

  const auto analysis = analyze(record);
  const auto says = report::describe(record, analysis);
  outputs.show(says, given.quiet);
  std::optional<std::string> failure;
  if (record.closed_loop) failure = record.closed_loop->failure;
  // A failed run ends the search, so it is the last one.
  if (!record.runs.empty()) {
    for (const auto& member : record.runs.back().members) {
      if (!failure) failure = member.failure;
    }
  }
  print_failure(failure);
  outputs.write("--json", [&](text_sink& to) { report::write_json(to, says, &record); });
  outputs.finish();
  return exit_status_of(failure.has_value(), record.interrupted);
}

/// Returns the index of the configuration of all pipelines with this name or id, or else the first.
std::size_t configuration_of_all(const experiment_plan& planned, const std::string& name) {
  std::size_t most = 0;  // pipelines in a configuration
  for (const auto& one : planned.configurations) most = std::max(most, one.members.size());
  std::vector<std::string> known;
  std::optional<std::size_t> with_id;
  for (std::size_t c = 0; most > 1 && c < planned.configurations.size(); ++c) {
    const auto& one = planned.configurations[c];
    if (one.members.size() < most) continue;
    if (name.empty() || one.what.name == name) return c;
    const auto id = experiment_labels::id(c);
    if (id == name) with_id = c;
    known.push_back(fmt::format("'{}' ({})", one.what.name, id));
  }
  if (with_id) return *with_id;
  if (most < 2) {
    throw input_error(
        fmt::format("experiment '{}' runs one pipeline at a time; 'graphline capacity' takes the "
                    "pipeline, or an experiment with 'together'",
                    planned.name));
  }
  throw input_error(
      fmt::format("--configuration {}: the experiment has no such configuration; it "
                  "has {}",
                  name, listed(known)));
}

exit_status measure_set(capacity_arguments& given) {
  const stop_request& stop = stop_on_interrupt();
  const auto refuse = [](const std::string& option) {
    if (option.empty()) return;
    throw input_error(fmt::format(
        "{}: an experiment states its settings itself, under 'run' and 'params'", option));
  };
  refuse(given.pipeline.override_given());
  if (!given.arrivals.empty()) refuse("--arrival");
  if (!given.predict.empty()) {
    throw input_error(
        "--predict predicts one pipeline at a time; omit it to measure the experiment");
  }
  ready_search of{read_how(given), {}, {}};
  stage_registry stages = builtin_stages();
  experiment_plan planned = plan_experiment_file(
      given.pipeline.path(), given.pipeline.device_name(), plan_use::run, stages);
  const std::size_t at = configuration_of_all(planned, given.configuration);
  const planned_configuration& chosen = planned.configurations[at];
  bool scheduled = false;
  for (std::size_t m = 0; m < chosen.members.size(); ++m) {
    const settings& run = chosen.members[m].run;
    const auto& name = chosen.what.members[m];
    if (run.arrival == arrival::closed) continue;
    scheduled = true;
    if (run.arrival == arrival::poisson || !rate_of(chosen.members[m])) {
      throw input_error(fmt::format(
          "the capacity of concurrent pipelines needs 'arrival: constant', 'trace' with two "
          "different times, or 'closed' for batch jobs; member '{}' has '{}'",
          name, to_word(run.arrival)));
    }
    const auto bound = read_bound(given.under, run.deadline, name);
    if (!given.under.empty()) of.how.bound = bound;
  }
  if (!scheduled) {
    throw input_error(
        "no pipeline of the experiment has a rate; set 'arrival: constant' and "
        "'rate' in the 'run' section of at least one");
  }
  of.how.frames = read_frames(given.frames, of.how.percentile, nullptr);
  const auto least = least_capacity_frames(of.how.percentile);
  if (of.how.frames == 0) of.how.frames = least;
  const auto frames = frames_of_set(chosen.members, of.how.frames);
  if (frames < least) {
    throw input_error(
        fmt::format("a trace of the experiment ends after {} frames of the pipeline with the "
                    "lowest rate; a verdict on {} needs at least {}",
                    frames, percentile_name(of.how.percentile), least));
  }
  of.how.seed = planned.how.seed;
  of.options.set =
      capacity_set{planned.name, planned.description, chosen.what.members, planned.how.share};
  device_set devices(given.pipeline.device_name());
  const auto data = data_files(planned);
  std::vector<std::string> read(data.begin(), data.end());
  for (const auto& source : planned.sources) read.push_back(source->name());
  result_outputs outputs(given.files, read);
  const auto runner = make_trial_runner(planned, std::ref(devices), devices.memory_budget());
  of.options.stop = &stop;
  of.options.watch_machine = [&] { return machine_watch(devices(chosen.members.front()).front()); };
  of.probe = make_set_probe(planned, at, *runner, &stop);
  return find_and_report(std::move(of), given, outputs);
}

exit_status measure_capacity(capacity_arguments& given) {
  if (given.pipeline.names_experiment()) return measure_set(given);
  if (!given.configuration.empty()) {
    throw input_error("--configuration chooses from an experiment, but this is a pipeline");
  }
  const stop_request& stop = stop_on_interrupt();
  ready_search of{read_how(given), {}, {}};
  const auto sources = read_sources(given.predict, "--predict");
  const bool predicted = !sources.empty();
  if (predicted) given.pipeline.default_device(sources.front().run.device.backend);
  plan p = given.pipeline
               .plan_to(predicted ? plan_use::check : plan_use::run,
                        [&](settings& run) { set_load(run, given.arrivals); })
               .planned;
  of.how.frames = read_frames(given.frames, of.how.percentile, &p);
  of.how.bound = read_bound(given.under, p.run.deadline, p.pipeline);
  of.how.arrival = p.run.arrival;
  of.how.seed = p.run.seed;
  std::optional<open_devices> on;
  if (!predicted) on.emplace(given.pipeline.open_devices_of(p));
  result_outputs outputs(given.files, given.pipeline.files_of(p, given.predict));
  add_checksums(p, outputs, given.predict);

  // Either one runs the plan.
  std::optional<session> s;
  std::optional<predictor> by;
  of.options.stop = &stop;
  if (predicted) {
    print_warnings(disturbed_sources(sources));
    of.options.prediction = by.emplace(p, sources).origin();
    of.probe = make_predicted_probe(*by, of.how, &stop);
  } else {
    s.emplace(std::move(p), on->group(), &stop);
    of.options.watch_machine = [&s] { return machine_watch(s->devices().front()); };
    of.probe = make_session_probe(*s, of.how, &stop);
  }
  return find_and_report(std::move(of), given, outputs);
}

}  // namespace

void add_capacity_command(CLI::App& program, action& chosen) {
  auto* command =
      add_command(program, "capacity",
                  "Find the highest frame rate that a pipeline, or a set of them, sustains");
  auto given = std::make_shared<capacity_arguments>();
  given->pipeline.add_to(*command, settings_except({"frames", "deadline", "arrival", "rate"}));
  std::vector<std::string> percentiles;
  for (const auto& [name, p] : shown_percentiles) percentiles.emplace_back(name);
  command
      ->add_option("--configuration", given->configuration,
                   "Which configuration of an experiment, by name or id (default: the first)")
      ->type_name("NAME");
  command
      ->add_option("--percentile", given->percentile,
                   "The percentile of the end-to-end time to bound")
      ->type_name(fmt::format("{}", fmt::join(percentiles, "|")))
      ->check(one_of(percentiles))
      ->capture_default_str();
  command
      ->add_option("--under", given->under,
                   "The bound, such as 60ms (default: the pipeline's deadline)")
      ->type_name("TIME");
  command
      ->add_option("--arrival", given->arrivals,
                   "How frames arrive (default: as in the pipeline, else constant)")
      ->type_name("constant|poisson|trace")
      ->check(one_of({"constant", "poisson", "trace"}));
  command
      ->add_option("-n,--frames", given->frames,
                   "Frames per run (default: at least 240 for p95, and a second of them)")
      ->type_name("N")
      ->check(in_range(1, highest_frames));
  command
      ->add_option("--within", given->within,
                   "Maximum width of the 95 % interval, relative to the rate")
      ->type_name("PERCENT")
      ->capture_default_str();
  auto* predict = add_predict_option(*command, given->predict);
  for (const char* one : {"--timing", "--threads", "--max-time", "--guard"}) {
    if (auto* option = command->get_option_no_throw(one)) predict->excludes(option);
  }
  given->files.add_json(*command, "Write the result (- for standard output)");
  command->footer(
      "About five runs of --frames frames locate the rate. Then runs of two to four times as many\n"
      "frames are pooled until the interval is as narrow as --within: eight to forty runs, which\n"
      "take minutes if a frame takes tens of milliseconds. A larger --within needs fewer.\n"
      "Ctrl-C reports the interval so far.\n"
      "An EXPERIMENT.yaml with 'together' in place of the pipeline: finds the highest factor on "
      "the\n"
      "rates of all its pipelines at which each meets its deadline.");
  add_quiet_option(*command, given->quiet);
  command->callback([&chosen, given] { chosen = [given] { return measure_capacity(*given); }; });
}

}  // namespace graphline
