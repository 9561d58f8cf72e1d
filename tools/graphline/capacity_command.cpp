#include <fmt/format.h>

#include <CLI/App.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/analyze.hpp"
#include "framework/base/diagnostic.hpp"
#include "framework/base/units.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/store/write_result.hpp"
#include "framework/run/capacity/capacity_search.hpp"
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

double read_percentile(const std::string& text) {
  constexpr double known[] = {0.5, 0.9, 0.95, 0.99, 0.999};
  std::vector<std::string> names;
  for (const double p : known) {
    if (percentile_name(p) == text) return p;
    names.push_back(percentile_name(p));
  }
  throw input_error(
      fmt::format("--percentile: unknown percentile '{}'{}", text, suggestion(text, names)));
}

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

arrival read_arrivals(const std::string& text) {
  const auto found = from_word<arrival>(text);
  if (found && *found != arrival::closed) return *found;
  if (found) {
    throw input_error(
        "--arrival closed: such frames have no rate; capacity takes constant or poisson");
  }
  throw input_error(fmt::format("--arrival: unknown arrival '{}'{}", text,
                                suggestion(text, {"constant", "poisson"})));
}

std::string rate_text(double frames_a_second) {
  return to_text(quantity{frames_a_second, unit::frames_per_second});
}

/// Makes frames arrive: as the file says or the option, else at a constant rate.
void set_load(settings& run, const std::string& arrivals) {
  if (!arrivals.empty()) {
    run.arrival = read_arrivals(arrivals);
  } else if (run.arrival == arrival::closed) {
    run.arrival = arrival::constant;
  }
  if (run.rate) {
    print(
        stderr,
        fmt::format("note: the pipeline's rate of {} is not used: the rate is what is looked for\n",
                    rate_text(*run.rate)));
  }
  run.rate = 1;  // each run has one of its own
}

/// 0 where the search is to decide.
std::int64_t read_frames(std::int64_t given, double percentile) {
  if (given == 0) return 0;
  const auto least = least_capacity_frames(percentile);
  if (given >= least) return given;
  throw input_error(fmt::format("--frames {}: to say that {} holds takes at least {} frames a run",
                                given, percentile_name(percentile), least));
}

/// A progress line for each rate, since the time left is known of one run only.
class capacity_line {
 public:
  explicit capacity_line(bool quiet) : quiet_(quiet) {}

  void show(const capacity_progress& at) {
    auto text = at.rate ? rate_text(*at.rate) : std::string("closed loop");
    if (at.pooled > 0) text = fmt::format("run {} at {}", at.pooled, text);
    if (at.low && at.high) {
      text += fmt::format("; between {} and {}", rate_text(*at.low), rate_text(*at.high));
    } else if (at.low) {
      text += fmt::format("; above {}", rate_text(*at.low));
    } else if (at.high) {
      text += fmt::format("; below {}", rate_text(*at.high));
    }
    if (!line_ || text != shown_) {
      line_.emplace(quiet_);
      shown_ = text;
    }
    line_->show(text, at.run.done, at.run.total, at.run.warmup ? "warm-up frames" : "frames");
  }
  void erase() { line_.reset(); }

 private:
  bool quiet_;
  std::optional<progress_line> line_;
  std::string shown_;
};

bool failed(const capacity_record& record) {
  return record.closed_loop.failure || (!record.runs.empty() && record.runs.back().record.failure);
}

/// On standard error, whatever becomes of the table: the run that failed and ended the search; and
/// warnings where no table has them.
void tell_trouble(const capacity_record& record, const std::optional<finding>& warning) {
  const auto tell = [](const run_record& run) {
    if (run.failure) print(stderr, fmt::format("error: {}\n", printable(*run.failure)));
  };
  tell(record.closed_loop);
  for (const auto& run : record.runs) tell(run.record);
  if (warning) print_findings({*warning});
}

exit_status measure_capacity(capacity_arguments& given) {
  const stop_request& stop = stop_on_interrupt();
  capacity_settings how;
  how.percentile = read_percentile(given.percentile);
  how.within = read_within(given.within);
  how.frames = read_frames(given.frames, how.percentile);
  plan p = given.pipeline.make_plan([&](settings& run) { set_load(run, given.arrivals); });
  how.bound = read_bound(given.under, p.run.deadline);
  how.arrival = p.run.arrival;
  how.seed = p.run.seed;
  const auto device = given.pipeline.open_device(p);
  result_outputs outputs(given.files, given.pipeline.files_of(p));

  session s(std::move(p), *device, &stop);
  capacity_line line(given.quiet);
  capacity_options options;
  options.stop = &stop;
  options.on_progress = [&line](const capacity_progress& at) { line.show(at); };
  options.watch_machine = [&s] { return machine_watch(s.device()); };
  const auto record = find_capacity(how, make_session_probe(s, how, &stop), options);
  line.erase();
  end_before_first("a frame was done",
                   record.interrupted && record.closed_loop.frames.empty() && record.runs.empty());

  const auto analysis = analyze(record);
  const auto says = report::describe(record, analysis);
  if (!given.quiet) outputs.show(says);
  tell_trouble(record, given.quiet ? analysis.summary.warning : std::nullopt);
  outputs.write("--json", [&](text_sink& to) { report::write_result(to, says, record); });
  outputs.finish();
  if (failed(record)) return exit_status::run_failed;
  return record.interrupted ? exit_status::interrupted : exit_status::done;
}

}  // namespace

void add_capacity_command(CLI::App& program, action& chosen) {
  auto* command =
      add_command(program, "capacity", "Find the highest rate of frames that it keeps up with");
  auto given = std::make_shared<capacity_arguments>();
  given->pipeline.add_to(*command, settings_but({"frames", "deadline", "arrival", "rate"}));
  command->add_option("--percentile", given->percentile, "Of the time from due to end of a frame")
      ->type_name("p50|p90|p95|p99|p99.9")
      ->capture_default_str();
  command
      ->add_option("--under", given->under,
                   "The bound: 60ms (default: the deadline of the pipeline)")
      ->type_name("TIME");
  command
      ->add_option("--arrival", given->arrivals,
                   "How frames arrive (default: as in the pipeline, else constant)")
      ->type_name("constant|poisson");
  command
      ->add_option("-n,--frames", given->frames,
                   "Frames of a run (default: at least 240 for p95, and for a second)")
      ->type_name("N")
      ->check(whole_number_from(1, 10'000'000));
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
