#include <fmt/format.h>

#include <CLI/App.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "framework/analysis/analyze.hpp"
#include "framework/base/text_file.hpp"
#include "framework/base/units.hpp"
#include "framework/campaign/experiment/experiment.hpp"
#include "framework/campaign/search/candidate_predictor.hpp"
#include "framework/campaign/search/search.hpp"
#include "framework/plan/experiment_plan.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/store/trial_store.hpp"
#include "framework/run/execute/session.hpp"
#include "framework/spec/experiment_reader.hpp"
#include "framework/spec/settings_reader.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/common_options.hpp"
#include "tools/graphline/device_set.hpp"
#include "tools/graphline/interrupt.hpp"
#include "tools/graphline/result_outputs.hpp"
#include "tools/graphline/terminal.hpp"

namespace graphline {
namespace {

struct search_arguments {
  pipeline_options pipeline;
  std::string minimize;
  std::string maximize;
  std::vector<std::string> subject_to;
  std::vector<std::string> over;
  std::string time_limit = "60s";
  std::int64_t frames = 0;
  std::uint64_t seed = 1;
  result_files files;
  bool quiet = false;
};

search_options read_options(const search_arguments& given) {
  search_options options;
  options.seed = given.seed;
  if (given.frames > 0) options.frames = given.frames;
  if (!given.maximize.empty()) {
    options.goal.objective = parse_objective(given.maximize, true);
  } else if (!given.minimize.empty()) {
    options.goal.objective = parse_objective(given.minimize, false);
  }
  for (const auto& text : given.subject_to) options.goal.limits.push_back(parse_limit(text));
  const auto limit = parse_duration(given.time_limit);
  if (!limit || *limit < 1'000'000'000 || *limit > 86'400'000'000'000) {
    throw input_error(fmt::format(
        "--time-limit {}: expected a time from 1s to 1440min with its unit, such as 120s",
        given.time_limit));
  }
  options.time_limit = *limit;
  return options;
}

/// Refuses metrics that the pipeline's settings cannot have.
void check_goal(const search_goal& goal, const settings& run) {
  const auto check = [&](search_metric metric, std::string_view option) {
    const auto why = why_never_known(metric, run);
    if (!why.empty()) throw input_error(fmt::format("{} {}: {}", option, to_word(metric), why));
  };
  check(goal.objective, "--minimize");
  for (const auto& limit : goal.limits) check(limit.metric, "--subject-to");
}

/// One search, with what its measurements need.
class search_run {
 public:
  search_run(search_arguments& given, const stop_request& stop)
      : given_(given),
        stop_(stop),
        machine_(target_of(given.pipeline.device_name())),
        devices_(given.pipeline.device_name()),
        spec_(given.pipeline.as_experiment()),
        file_(given.files.path("--experiment")) {}

  search_space make_space() {
    diagnostics found;
    auto space = make_search_space(spec_, given_.over, stages_, machine_, found);
    found.throw_if_errors();
    if (!found.all().empty()) print(stderr, fmt::format("{}\n", found.render()));
    if (space.planned.configurations.size() > 1) return space;
    throw input_error(fmt::format(
        "there is nothing to search: of {} combinations, {} are refused by 'check', and the others "
        "run like the file's settings; name other values with --over KEY=VALUE,VALUE",
        space.combinations, space.refused));
  }

  experiment_record search(const search_space& space, search_options options) {
    progress_line line(given_.quiet);
    options.stop = &stop_;
    options.on_progress = [&](const search_progress& at) {
      line.show(at.phase, at.done, at.total, at.phase == "racing" ? "rounds" : "candidates");
    };
    auto trials = make_trial_runner(space.planned, std::ref(devices_), devices_.memory_budget());
    search_measurements by{*trials, {}, {}};
    candidate_predictor predictor(space.planned, [&](std::size_t candidate) {
      return run_apart(space.planned.configurations[candidate], options.time_limit);
    });
    by.predict = [&](std::size_t candidate, std::int64_t frames) {
      return predictor.predict(candidate, frames);
    };
    by.confirm = [&](const confirmation_request& request) {
      trials.reset();  // frees the memory of its pipelines
      return confirm(space, request, line);
    };
    auto record = find_best_settings(space, by, options);
    record.search->source_frames = predictor.source_frames();
    return record;
  }

  const std::string& text() const noexcept { return text_; }

 private:
  /// Runs the pipeline with a candidate's parameters and threads, each stage timed alone.
  run_record run_apart(const planned_configuration& candidate, nanoseconds time_limit) {
    constexpr nanoseconds parts = 20;  // of the time limit
    std::vector<std::pair<std::string, std::string>> set;
    for (const auto& of : candidate.what.assignments) {
      if (!is_setting(of.first)) set.push_back(of);
    }
    plan p = given_.pipeline
                 .plan_to(
                     plan_use::run,
                     [&](settings& run) {
                       set_stages_apart(run);
                       run.timing = timing_method::event;
                       run.frames = 100;
                       run.max_time = time_limit / parts;
                       run.threads = candidate.members.front().run.threads;
                     },
                     false, set)
                 .planned;
    device& on = devices_(p);
    return session(std::move(p), on, &stop_).run({.stop = &stop_});
  }

  /// Plans and runs the confirmation as `compare` does with the text of the experiment.
  experiment_record confirm(const search_space& space, const confirmation_request& request,
                            progress_line& line) {
    std::vector<experiment_configuration> candidates;
    for (const std::size_t i : request.candidates) {
      candidates.push_back(space.planned.configurations[i].what);
    }
    const bool kept = !file_.empty() && file_ != "-";
    std::string path = spec_.pipeline.text;
    if (kept) {
      path = std::filesystem::relative(path, std::filesystem::absolute(folder_of(file_))).string();
    }
    spec_.name.text = space.planned.name;
    text_ = experiment_text(spec_, path, candidates, request.how, request.frames);
    diagnostics found;
    const auto source = std::make_shared<source_text>(kept ? file_ : "search.yaml", text_);
    auto planned = plan_experiment(read_experiment(source, found), stages_, machine_, found);
    found.throw_if_errors();
    for (auto& data : checksums_of(data_files(planned))) planned.files.push_back(std::move(data));
    std::optional<trial_store> store;
    if (kept) {
      store.emplace(planned.name + ".trials.jsonl", planned, store_opening::overwrite);
    }
    const auto trials = make_trial_runner(planned, std::ref(devices_), devices_.memory_budget());
    auto record =
        run_experiment(planned, *trials,
                       {.stop = &stop_,
                        .on_progress =
                            [&](const experiment_progress& at) {
                              line.show("confirming", at.done, at.total, "trials", at.left);
                            },
                        .on_trial =
                            [&](const trial_record& trial) {
                              if (store) store->add(trial);
                            }});
    if (store && !record.interrupted) store->end(record.stopped);
    return record;
  }

  search_arguments& given_;
  const stop_request& stop_;
  plan_target machine_;
  device_set devices_;
  stage_registry stages_ = builtin_stages();
  experiment_spec spec_;
  std::string file_;
  std::string text_;  ///< of the confirming experiment
};

exit_status search(search_arguments& given) {
  const search_options options = read_options(given);
  const stop_request& stop = stop_on_interrupt();
  search_run run(given, stop);
  const auto space = run.make_space();
  const plan& file = space.planned.configurations.front().members.front();
  check_goal(options.goal, file.run);
  result_outputs outputs(given.files, given.pipeline.files_of(file));
  const auto record = run.search(space, options);
  end_measuring("a candidate was measured", record.interrupted && record.configurations.empty());

  const auto says = report::describe(record);
  outputs.show(says, given.quiet);
  print_failure(record.failure);
  outputs.write("--json", [&](text_sink& to) { report::write_json(to, says, &record); });
  if (!run.text().empty()) {
    outputs.write("--experiment", [&](text_sink& to) { to.append(run.text()); });
  }
  outputs.write(says);
  outputs.finish();
  return exit_status_of(record.failure.has_value(), record.interrupted);
}

}  // namespace

void add_search_command(CLI::App& program, action& chosen) {
  auto* command = add_command(program, "search", "Find the best settings of a pipeline");
  auto given = std::make_shared<search_arguments>();
  std::set<std::string> excluded = {"frames", "max_time", "seed"};
  for (const auto& of : searched_settings) excluded.emplace(of.key);
  given->pipeline.add_to(*command, settings_except(excluded));
  auto* minimize = command
                       ->add_option("--minimize", given->minimize,
                                    "What to minimize: p50, p90, p95, p99, p99.9, p99.99 or late "
                                    "(default: p50)")
                       ->type_name("METRIC");
  command->add_option("--maximize", given->maximize, "What to maximize: throughput")
      ->type_name("METRIC")
      ->excludes(minimize);
  command
      ->add_option("--subject-to", given->subject_to,
                   "A constraint, such as 'p99<=20ms', 'throughput>=30/s', 'late<=1%' or\n"
                   "'device_memory<=4GiB'; repeatable")
      ->type_name("CONSTRAINT")
      ->allow_extra_args(false)
      ->take_all();
  command
      ->add_option("--over", given->over,
                   "Values of a setting or parameter to search over: in_flight=1,2; a KEY\n"
                   "alone limits the search to the keys that are named; repeatable")
      ->type_name("KEY[=VALUE,...]")
      ->allow_extra_args(false)
      ->take_all();
  command
      ->add_option("--time-limit", given->time_limit,
                   "About how long the search takes, with the confirmation")
      ->type_name("TIME")
      ->capture_default_str();
  command
      ->add_option("-n,--frames", given->frames,
                   "Measured frames of each trial (default: as the time allows)")
      ->type_name("N")
      ->check(in_range(1, 1'000'000));
  command->add_option("--seed", given->seed, "Seed of the random order of trials")
      ->type_name("N")
      ->capture_default_str();
  given->files.add_json(*command);
  given->files.add_html(*command);
  given->files.add_markdown(*command);
  given->files.add(*command, "--experiment",
                   "Write the confirmation as an experiment that 'compare --resume' continues, and "
                   "its trials");
  add_quiet_option(*command, given->quiet);
  command->footer("FILE may be - for standard output. Ctrl-C reports the best so far.");
  command->callback([&chosen, given] { chosen = [given] { return search(*given); }; });
}

}  // namespace graphline
