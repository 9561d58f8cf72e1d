#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "framework/analysis/analyze.hpp"
#include "framework/analysis/search/search_summary.hpp"
#include "framework/base/text_file.hpp"
#include "framework/base/units.hpp"
#include "framework/campaign/experiment/experiment.hpp"
#include "framework/campaign/predict/predictor.hpp"
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
  std::string minimize = "p50";
  std::string maximize;
  std::vector<std::string> subject_to;
  std::vector<std::string> over;
  std::string time_limit = "60s";
  result_files files;
  bool quiet = false;
};

search_options read_options(const search_arguments& given) {
  search_options options;
  const bool maximizes = !given.maximize.empty();
  options.goal.objective = parse_objective(maximizes ? given.maximize : given.minimize, maximizes);
  for (const auto& text : given.subject_to) options.goal.limits.push_back(parse_limit(text));
  options.time_limit = parse_duration(given.time_limit).value_or(0);
  constexpr nanoseconds second = 1'000'000'000;
  if (options.time_limit >= second && options.time_limit <= 86'400 * second) return options;
  throw input_error(
      fmt::format("--time-limit {}: expected a time from 1s to 1440min with its unit, such as 120s",
                  given.time_limit));
}

/// One search, with what its measurements need.
class search_run {
 public:
  search_run(search_arguments& given, nanoseconds time_limit)
      : given_(given),
        machine_(target_of(given.pipeline.device_name())),
        devices_(given.pipeline.device_name()),
        spec_(given.pipeline.as_experiment()),
        file_(given.files.path("--experiment")) {
    diagnostics found;
    // Planning 50 candidates takes a few percent of a second, or a tenth with many stages.
    const auto drawn = std::clamp<nanoseconds>(50 * time_limit / 1'000'000'000, 200, 2000);
    planned_ = make_search_space(spec_, given_.over, stages_, machine_,
                                 static_cast<std::size_t>(drawn), found);
    found.throw_if_errors();
    if (!found.all().empty()) print(stderr, fmt::format("{}\n", found.render()));
    planned_at_ = now();
    if (planned_.configurations.size() > 1) return;
    throw input_error(
        "there is nothing to search: all combinations are refused by 'check' or run like the "
        "file's settings; name other values with --over KEY=VALUE,VALUE");
  }

  /// Returns the plan with the file's settings.
  const plan& as_in_file() const { return planned_.configurations.front().members.front(); }

  experiment_record search(search_options options, const stop_request& stop) {
    progress_line line(given_.quiet);
    options.stop = stop_ = &stop;
    options.begun = begun_;
    options.on_progress = [&](std::string_view phase, std::size_t done, std::size_t most) {
      line.show(phase, static_cast<std::int64_t>(done), static_cast<std::int64_t>(most),
                phase == "racing" ? "rounds" : "candidates");
    };
    auto trials = make_trial_runner(planned_, std::ref(devices_), devices_.memory_budget());
    search_measurements by{*trials, {}, {}};
    by.predict = [&](std::size_t candidate, std::int64_t frames) {
      return predict(planned_.configurations[candidate], frames, options.time_limit);
    };
    by.confirm = [&](const confirmation_request& request) {
      trials.reset();  // frees the memory of its pipelines
      return confirm(request, line);
    };
    auto record = find_best_settings(planned_, by, options);
    record.search->frames += source_frames_;
    return record;
  }

  const std::string& text() const noexcept { return text_; }

 private:
  /// Describes what stage times depend on. Plans of one search share what they prepared.
  static std::string work_of(const plan& p) {
    std::string text = std::to_string(p.run.threads);
    for (const auto& d : p.devices) text += fmt::format(" {} {}", d.request, d.threads);
    for (const auto& t : p.tensors) text += fmt::format(" {} {}", static_cast<int>(t.fill), t.file);
    for (const auto& s : p.stages) text += fmt::format(" {}", fmt::ptr(s.prepared.get()));
    return text;
  }

  /// Predicts a candidate from a run with each stage timed alone, one for all candidates that
  /// differ in their schedule only. Empty without such a run, or if the candidate's settings have
  /// no meaning in virtual time.
  std::optional<run_record> predict(const planned_configuration& candidate, std::int64_t frames,
                                    nanoseconds time_limit) {
    constexpr std::size_t most_sources = 4;
    const plan& p = candidate.members.front();
    const auto [known, is_new] = sources_.try_emplace(work_of(p));
    auto& sources = known->second;
    try {
      const nanoseconds began = now();
      const auto left = static_cast<double>(time_limit - (planned_at_ - begun_));
      const auto most = static_cast<nanoseconds>(predicted_share * left);
      if (is_new && sources_.size() <= most_sources && began - planned_at_ + source_time_ < most) {
        std::vector<std::pair<std::string, std::string>> set;
        for (const auto& of : candidate.what.assignments) {
          if (!is_setting(of.first)) set.push_back(of);
        }
        auto apart = given_.pipeline.plan_to(
            plan_use::run,
            [&](settings& run) {
              set_stages_apart(run);
              run.timing = timing_method::event;
              run.frames = 100;
              run.max_time = time_limit / 20;
              run.threads = p.run.threads;
            },
            false, set);
        const device_group on = devices_(apart.planned);
        run_record run = session(std::move(apart.planned), on, stop_).run({.stop = stop_});
        if (run.interrupted) throw interrupted_error("interrupted");
        source_frames_ += static_cast<std::int64_t>(run.frames.size());
        if (!run.failure) sources.push_back({"the run of each stage alone", std::move(run)});
        source_time_ = now() - began;
      }
      if (sources.empty()) return std::nullopt;
      return predictor(p, sources).replicate(0, {.frames = frames});
    } catch (const run_error&) {  // a trial will show the failure
    } catch (const input_error&) {
    }
    return std::nullopt;
  }

  /// Plans and runs the confirmation as `compare` does with the text of the experiment.
  experiment_record confirm(const confirmation_request& request, progress_line& line) {
    std::vector<experiment_configuration> candidates;
    for (const std::size_t i : request.candidates) {
      candidates.push_back(planned_.configurations[i].what);
    }
    const bool kept = !file_.empty() && file_ != "-";
    std::string path = spec_.pipeline.text;
    if (kept) {
      path = std::filesystem::relative(path, std::filesystem::absolute(folder_of(file_))).string();
    }
    spec_.name.text = planned_.name;
    text_ = experiment_text(spec_, path, candidates, request.how, request.frames);
    diagnostics found;
    const auto source = std::make_shared<source_text>(kept ? file_ : "search.yaml", text_);
    auto planned = plan_experiment(read_experiment(source, found), stages_, machine_, found);
    found.throw_if_errors();
    for (auto& data : checksums_of(data_files(planned))) planned.files.push_back(std::move(data));
    experiment_options options{.stop = stop_};
    options.on_progress = [&](const experiment_progress& at) {
      line.show("confirming", at.done, at.total, "trials", at.left);
    };
    std::optional<trial_store> store;
    if (kept) {
      store.emplace(planned.name + ".trials.jsonl", planned, store_opening::overwrite);
      options.on_trial = [&](const trial_record& trial) { store->add(trial); };
    }
    const auto trials = make_trial_runner(planned, std::ref(devices_), devices_.memory_budget());
    auto record = run_experiment(planned, *trials, options);
    if (store && !record.interrupted) store->end(record.stopped);
    return record;
  }

  nanoseconds begun_ = now();
  nanoseconds planned_at_ = begun_;
  search_arguments& given_;
  const stop_request* stop_ = nullptr;
  plan_target machine_;
  device_set devices_;
  stage_registry stages_ = builtin_stages();
  experiment_spec spec_;
  experiment_plan planned_;
  std::string file_;
  std::string text_;                                               ///< of the confirming experiment
  std::map<std::string, std::vector<prediction_source>> sources_;  ///< by `work_of`
  std::int64_t source_frames_ = 0;
  nanoseconds source_time_ = 0;  ///< of the last run for predictions, with its preparation
};

exit_status search(search_arguments& given) {
  const search_options options = read_options(given);
  search_run run(given, options.time_limit);
  result_outputs outputs(given.files, given.pipeline.files_of(run.as_in_file()));
  const auto record = run.search(options, stop_on_interrupt());
  end_measuring("a candidate was measured", record.interrupted && record.configurations.empty());

  const auto analysis = analyze(record);
  const auto says = report::describe(record, analysis);
  outputs.show(says, given.quiet);
  print_failure(record.failure);
  outputs.write("--json", [&](text_sink& to) { report::write_json(to, says, &record); });
  if (!run.text().empty()) {
    outputs.write("--experiment", [&](text_sink& to) { to.append(run.text()); });
  }
  outputs.write(says);
  outputs.finish();
  const auto status = exit_status_of(record.failure.has_value(), record.interrupted);
  const bool lacking =
      !options.goal.limits.empty() && !summarize_search(record, analysis.summary).chosen;
  return status == exit_status::done && lacking ? exit_status::gate_failed : status;
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
                                    "What to minimize: p50, p90, p95, p99, p99.9 or p99.99")
                       ->type_name("METRIC")
                       ->capture_default_str();
  command->add_option("--maximize", given->maximize, "What to maximize: throughput")
      ->type_name("METRIC")
      ->excludes(minimize);
  command
      ->add_option("--subject-to", given->subject_to,
                   "A constraint, such as 'p99<=20ms', 'throughput>=30/s' or\n"
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
  given->files.add_json(*command);
  given->files.add_html(*command);
  given->files.add_markdown(*command);
  given->files.add(*command, "--experiment",
                   "Write the confirmation as an experiment that 'compare --resume' continues, and "
                   "its trials");
  add_quiet_option(*command, given->quiet);
  command->footer(
      "FILE may be - for standard output. Ctrl-C reports the best so far. The exit status is 4 if "
      "no\n"
      "settings meet every constraint with confidence.");
  command->callback([&chosen, given] { chosen = [given] { return search(*given); }; });
}

}  // namespace graphline
