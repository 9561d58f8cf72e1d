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
#include "framework/base/units.hpp"
#include "framework/base/utf8.hpp"
#include "framework/campaign/capacity/capacity_search.hpp"
#include "framework/campaign/predict/predicted_campaigns.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/common_options.hpp"
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
  result_files files;
  bool quiet = false;
};

/// Returns the bound from --under, or else the deadline.
nanoseconds read_bound(const std::string& text, const std::optional<nanoseconds>& deadline) {
  if (text.empty() && deadline) return *deadline;
  if (text.empty()) {
    throw input_error(
        "capacity needs a bound on the time of a frame: --under 60ms, or a 'deadline' in the "
        "pipeline's 'run' section");
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
    throw input_error(
        fmt::format("--within {}: expected a part of the rate from 0.1% to 50%: 2%", text));
  }
  return *part;
}

std::string rate_text(double frames_a_second) {
  return to_text(quantity{frames_a_second, unit::frames_per_second});
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

/// Returns the frames per run, at most those of a trace; 0 lets the search choose.
std::int64_t read_frames(std::int64_t given, double percentile, const plan& p) {
  const auto all = given > 0 ? given : p.arrivals ? highest_frames : 0;
  const auto frames = frames_that_arrive(p, all);
  const auto least = least_capacity_frames(percentile);
  if (frames == 0 || frames >= least) return frames;
  const auto what = frames < all
                        ? fmt::format("{}: its {} frames are too few", *p.run.arrival_file, frames)
                        : fmt::format("--frames {}", given);
  throw input_error(fmt::format("{}: to say that {} holds takes at least {} frames a run", what,
                                percentile_name(percentile), least));
}

exit_status measure_capacity(capacity_arguments& given) {
  const stop_request& stop = stop_on_interrupt();
  capacity_settings how;
  how.percentile =
      std::ranges::find(shown_percentiles, given.percentile, &word<double>::first)->second;
  how.within = read_within(given.within);
  const auto sources = read_sources(given.predict, "--predict");
  const bool predicted = !sources.empty();
  if (predicted) given.pipeline.default_device(sources.front().run.device.backend);
  plan p = given.pipeline
               .plan_to(predicted ? plan_use::check : plan_use::run,
                        [&](settings& run) { set_load(run, given.arrivals); })
               .planned;
  how.frames = read_frames(given.frames, how.percentile, p);
  how.bound = read_bound(given.under, p.run.deadline);
  how.arrival = p.run.arrival;
  how.seed = p.run.seed;
  std::unique_ptr<device> on;
  if (!predicted) on = given.pipeline.open_device(p);
  result_outputs outputs(given.files, given.pipeline.files_of(p, given.predict));
  add_checksums(p, outputs, given.predict);

  // Either one runs the plan.
  std::optional<session> s;
  std::optional<predictor> by;
  progress_line line(given.quiet);
  capacity_options options;
  options.stop = &stop;
  options.on_progress = [&line](const capacity_progress& at) {
    auto activity = at.rate ? rate_text(*at.rate) : "closed loop";
    if (at.low && at.high) {
      activity += fmt::format(", so far {} to {}", rate_text(*at.low), rate_text(*at.high));
    }
    line.show(activity, at.run.done, at.run.total, "frames");
  };
  probe_function probe;
  if (predicted) {
    print_warnings(disturbed_sources(sources));
    options.prediction = by.emplace(p, sources).origin();
    probe = make_predicted_probe(*by, how, &stop);
  } else {
    s.emplace(std::move(p), *on, &stop);
    options.watch_machine = [&s] { return machine_watch(s->device()); };
    probe = make_session_probe(*s, how, &stop);
  }
  const auto record = find_capacity(how, probe, options);
  line.erase();
  end_measuring("a frame was done",
                record.interrupted && record.closed_loop.frames.empty() && record.runs.empty());

  const auto analysis = analyze(record);
  const auto says = report::describe(record, analysis);
  outputs.show(says, given.quiet);
  // A failed run ends the search, so it is the last one.
  const auto& last = record.runs.empty() ? record.closed_loop : record.runs.back().record;
  print_failure(last.failure);
  outputs.write("--json", [&](text_sink& to) { report::write_json(to, says, &record); });
  outputs.finish();
  return exit_status_of(last.failure.has_value(), record.interrupted);
}

}  // namespace

void add_capacity_command(CLI::App& program, action& chosen) {
  auto* command =
      add_command(program, "capacity", "Find the highest frame rate that a pipeline sustains");
  auto given = std::make_shared<capacity_arguments>();
  given->pipeline.add_to(*command, settings_except({"frames", "deadline", "arrival", "rate"}));
  std::vector<std::string> percentiles;
  for (const auto& [name, p] : shown_percentiles) percentiles.emplace_back(name);
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
      "Ctrl-C reports the interval so far.");
  add_quiet_option(*command, given->quiet);
  command->callback([&chosen, given] { chosen = [given] { return measure_capacity(*given); }; });
}

}  // namespace graphline
