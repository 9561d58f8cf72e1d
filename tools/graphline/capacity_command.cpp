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
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/common_options.hpp"
#include "tools/graphline/interrupt.hpp"
#include "tools/graphline/pipeline_options.hpp"
#include "tools/graphline/progress_line.hpp"
#include "tools/graphline/result_outputs.hpp"
#include "tools/graphline/terminal.hpp"

namespace graphline {
namespace {

struct capacity_arguments {
  pipeline_options pipeline;
  std::string percentile = "p95";
  std::string under;
  std::string arrivals;
  std::string within = "2%";
  std::int64_t frames = 0;
  result_files files;
  bool quiet = false;
};

/// The bound: what was given, or else the file's deadline.
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

/// Makes frames arrive: as the option or the file says, else at a constant rate, which each run has
/// one of its own of.
void set_load(settings& run, const std::string& arrivals) {
  if (!arrivals.empty()) {
    run.arrival = *from_word<arrival>(arrivals);
  } else if (run.arrival == arrival::closed) {
    run.arrival = arrival::constant;
  }
  run.rate = 1;
}

/// 0 where the search is to decide.
std::int64_t read_frames(std::int64_t given, double percentile) {
  if (given == 0) return 0;
  const auto least = least_capacity_frames(percentile);
  if (given >= least) return given;
  throw input_error(fmt::format("--frames {}: to say that {} holds takes at least {} frames a run",
                                given, percentile_name(percentile), least));
}

exit_status measure_capacity(capacity_arguments& given) {
  const stop_request& stop = stop_on_interrupt();
  capacity_settings how;
  how.percentile =
      std::ranges::find(shown_percentiles, given.percentile, &word<double>::first)->second;
  how.within = read_within(given.within);
  how.frames = read_frames(given.frames, how.percentile);
  plan p = given.pipeline.make_plan([&](settings& run) { set_load(run, given.arrivals); });
  how.bound = read_bound(given.under, p.run.deadline);
  how.arrival = p.run.arrival;
  how.seed = p.run.seed;
  const auto device = given.pipeline.open_device(p);
  result_outputs outputs(given.files, given.pipeline.files_of(p));
  add_checksums(p, outputs);

  session s(std::move(p), *device, &stop);
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
  options.watch_machine = [&s] { return machine_watch(s.device()); };
  const auto record = find_capacity(how, make_session_probe(s, how, &stop), options);
  line.erase();
  end_measuring("a frame was done",
                record.interrupted && record.closed_loop.frames.empty() && record.runs.empty());

  const auto analysis = analyze(record);
  const auto says = report::describe(record, analysis);
  if (!given.quiet) outputs.show(says);
  if (given.quiet) print_findings(says.findings);
  // A run that fails ends the search.
  const auto& last = record.runs.empty() ? record.closed_loop : record.runs.back().record;
  if (last.failure) print(stderr, fmt::format("error: {}\n", printable(*last.failure)));
  outputs.write("--json", [&](text_sink& to) { report::write_json(to, says, &record); });
  outputs.finish();
  if (last.failure) return exit_status::run_failed;
  return record.interrupted ? exit_status::interrupted : exit_status::done;
}

}  // namespace

void add_capacity_command(CLI::App& program, action& chosen) {
  auto* command =
      add_command(program, "capacity", "Find the highest rate of frames that it keeps up with");
  auto given = std::make_shared<capacity_arguments>();
  given->pipeline.add_to(*command, settings_but({"frames", "deadline", "arrival", "rate"}));
  std::vector<std::string> percentiles;
  for (const auto& [name, p] : shown_percentiles) percentiles.emplace_back(name);
  command->add_option("--percentile", given->percentile, "Of the time from due to end of a frame")
      ->type_name(fmt::format("{}", fmt::join(percentiles, "|")))
      ->check(one_of(percentiles))
      ->capture_default_str();
  command
      ->add_option("--under", given->under,
                   "The bound: 60ms (default: the deadline of the pipeline)")
      ->type_name("TIME");
  command
      ->add_option("--arrival", given->arrivals,
                   "How frames arrive (default: as in the pipeline, else constant)")
      ->type_name("constant|poisson")
      ->check(one_of({"constant", "poisson"}));
  command
      ->add_option("-n,--frames", given->frames,
                   "Frames of a run (default: at least 240 for p95, and for a second)")
      ->type_name("N")
      ->check(in_range(1, 10'000'000));
  command
      ->add_option("--within", given->within,
                   "How wide the 95 % interval of the rate may be, as a part of the rate")
      ->type_name("PERCENT")
      ->capture_default_str();
  given->files.add_json(*command, "Write the result (- for standard output)");
  command->footer(
      "About five runs of --frames frames find where the rate lies; then runs of two to four "
      "times\n"
      "as many are pooled until the interval is as narrow as --within: eight to forty of them, "
      "that\n"
      "is minutes where a frame takes tens of milliseconds. A wider --within takes fewer.\n"
      "Ctrl-C reports what is known by then.");
  add_quiet_option(*command, given->quiet);
  command->callback([&chosen, given] { chosen = [given] { return measure_capacity(*given); }; });
}

}  // namespace graphline
