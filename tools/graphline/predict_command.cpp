#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <charconv>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/units.hpp"
#include "framework/campaign/predict/other_device.hpp"
#include "framework/campaign/predict/prediction.hpp"
#include "framework/campaign/predict/validation.hpp"
#include "framework/plan/planner.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/store/known_devices.hpp"
#include "framework/run/execute/session.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/common_options.hpp"
#include "tools/graphline/interrupt.hpp"
#include "tools/graphline/run_results.hpp"
#include "tools/graphline/target_device.hpp"
#include "tools/graphline/terminal.hpp"

namespace graphline {
namespace {

struct predict_arguments {
  pipeline_options pipeline;
  run_results results;
  std::vector<std::string> sources;
  std::vector<std::string> scale;
  std::vector<std::string> at_most;
  std::string on;
  int cores = 0;
  bool sensitivity = false;
  bool validates = false;
  std::int64_t rounds = 5;
};

std::map<std::string, double> read_scale(const std::vector<std::string>& given) {
  std::map<std::string, double> factors;
  for (const std::string& text : given) {
    constexpr auto expected = "STAGE=FACTOR, with a factor from 0 to 1000000: backbone=0.5";
    const auto [stage, number] = split_assignment(text, "--scale", expected);
    const char* const end = number.data() + number.size();
    double factor = -1;
    const auto read = std::from_chars(number.data(), end, factor);
    if (read.ec != std::errc() || read.ptr != end || !(factor >= 0 && factor <= 1e6)) {
      throw input_error(fmt::format("--scale {}: expected {}", text, expected));
    }
    factors[stage] = factor;
  }
  return factors;
}

std::map<std::string, nanoseconds> read_longest(const std::vector<std::string>& given) {
  std::map<std::string, nanoseconds> times;
  for (const std::string& text : given) {
    constexpr nanoseconds longest = 3'600'000'000'000;
    constexpr auto expected =
        "STAGE=TIME, with a time from 0s to 3600s and its unit: backbone=12ms";
    const auto [stage, time] = split_assignment(text, "--at-most", expected);
    const auto read = parse_duration(time);
    if (!read || *read > longest)
      throw input_error(fmt::format("--at-most {}: expected {}", text, expected));
    times[stage] = *read;
  }
  return times;
}

/// Sets what predictions need of a run.
void set_timing(settings& run) {
  run.timing = timing_method::event;
  run.max_time.reset();
}

exit_status validate_predictions(predict_arguments& given) {
  const stop_request& stop = stop_on_interrupt();
  validation_options options{.rounds = given.rounds, .stop = &stop};
  options.prediction.scale = read_scale(given.scale);
  std::vector<prediction_source> saved = read_sources(given.sources, "--from");
  if (!saved.empty()) {
    given.pipeline.default_device(saved.front().run.device.backend);
  } else if (!given.scale.empty()) {
    throw input_error(
        "--scale with --validate needs --from RESULT.json, measured before the stage changed");
  }
  plan p = given.pipeline.make_plan(set_timing);
  const auto devices = given.pipeline.open_devices_of(p);
  result_outputs outputs(given.results.files, given.pipeline.files_of(p, given.sources));
  add_checksums(p, outputs, given.sources);

  progress_line line(given.results.quiet);
  const auto runs_of = [&](session& s, std::string_view what) -> validation_run {
    return [&, what](std::int64_t round) {
      run_options run;
      run.stop = &stop;
      run.on_progress = [&](const progress& at) {
        line.show(fmt::format("round {} of {}, {}", round + 1, given.rounds, what), at.done,
                  at.total, "frames");
      };
      return s.run(run);
    };
  };
  session wanted(std::move(p), devices.group(), &stop);
  std::optional<session> serial;
  validation_source source;
  if (!saved.empty()) {
    source = std::move(saved);
  } else {
    const auto apart = [](settings& run) {
      set_timing(run);
      set_stages_apart(run);
    };
    auto planned = given.pipeline.plan_to(plan_use::run, apart, false).planned;
    serial.emplace(std::move(planned), devices.group(), &stop);
    source = runs_of(*serial, "serial run");
  }
  const auto record = validate(wanted.planned(), runs_of(wanted, "wanted run"), source, options);
  line.erase();
  end_measuring("a round was complete", record.interrupted && record.rounds.empty());
  const auto says = report::describe(record);
  outputs.show(says, given.results.quiet);
  print_failure(record.failure);
  outputs.write("--json", [&](text_sink& to) { report::write_json(to, says, &record); });
  outputs.write(says);
  outputs.finish();
  return exit_status_of(record.failure.has_value(), record.interrupted);
}

exit_status predict_pipeline(predict_arguments& given) {
  if (given.validates) return validate_predictions(given);
  if (given.sources.empty()) {
    throw input_error(
        "predict needs --from RESULT.json, made by 'graphline run --timing event --json', or "
        "--validate, which measures");
  }
  const stop_request& stop = stop_on_interrupt();
  const std::vector<prediction_source> sources = read_sources(given.sources, "--from");
  prediction_options options;
  options.scale = read_scale(given.scale);
  options.at_most = read_longest(given.at_most);
  if (given.cores > 0) options.cores = given.cores;
  options.sensitivity = given.sensitivity;
  given.pipeline.default_device(sources.front().run.device.backend);
  plan p = given.pipeline.plan_to(plan_use::check, set_timing).planned;
  given.results.gates.refuse([&](const gate& of) {
    return of.metric == "device_memory" || of.metric == "error"
               ? fmt::format("predictions do not include {}", of.metric)
               : why_never_judged(of, p);
  });
  auto read = given.pipeline.files_of(p, given.sources);
  if (!given.on.empty()) read.push_back(given.on);
  result_outputs outputs(given.results.files, read);
  add_checksums(p, outputs, given.sources);
  progress_line line(given.results.quiet);
  options.stop = &stop;
  options.on_progress = [&line](std::int64_t done, std::int64_t total) {
    line.show("predicting", done, total, "runs");
  };
  const auto predict_with = [&](const prediction_options& with) {
    return predict(p, sources, with);
  };
  const run_record& first = sources.front().run;
  const run_record record = given.on.empty() ? predict_with(options)
                                             : predict_on(target_device(given.on, first), p, first,
                                                          options, predict_with);
  line.erase();
  return given.results.report(outputs, record, stop.raised());
}

}  // namespace

void add_predict_command(CLI::App& program, action& chosen) {
  auto* command = add_command(program, "predict",
                              "Predict a run in virtual time, from the stage times of a result");
  auto given = std::make_shared<predict_arguments>();
  given->pipeline.add_to(*command, settings_except({"guard", "max_time", "threads", "timing"}));
  given->pipeline.add_no_plugins_option(*command);
  add_sources_option(*command, "--from", given->sources, "Take the stage times of");
  command->add_option("--scale", given->scale, "Multiply a stage's time by a factor; repeatable")
      ->type_name("stage=factor")
      ->allow_extra_args(false)
      ->take_all();
  command
      ->add_option("--at-most", given->at_most,
                   "Longest time of a stage, such as backbone=12ms, to bound the time of a frame; "
                   "repeatable; default: the longest in the result")
      ->type_name("stage=time")
      ->allow_extra_args(false)
      ->take_all();
  command
      ->add_option("--on", given->on,
                   fmt::format("Predict for another GPU: {}, or a file of 'calibrate --json'",
                               fmt::join(known_device_names(), ", ")))
      ->type_name("DEVICE");
  command->add_option("--cores", given->cores, "Cores for CPU stages; default: the result's")
      ->type_name("N")
      ->check(in_range(1, 4096));
  command->add_flag("--sensitivity", given->sensitivity,
                    "Show how much each stage shortens the frame if it becomes 10 % faster");
  auto* validates = command->add_flag("--validate", given->validates,
                                      "Also run the pipeline, in rounds, and compare both");
  command->add_option("--rounds", given->rounds, "Rounds of --validate, each with a prediction")
      ->type_name("N")
      ->check(in_range(3, 100))
      ->capture_default_str()
      ->needs(validates);
  given->results.add_files_to(*command);
  given->results.add_gates_to(*command);
  for (const char* one : {"--on", "--cores", "--at-most", "--sensitivity", "--trace", "--csv",
                          "--fail-if", "--junit"}) {
    validates->excludes(command->get_option(one));
  }
  command->callback([&chosen, given] { chosen = [given] { return predict_pipeline(*given); }; });
}

}  // namespace graphline
