#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include "framework/analysis/summary.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/csv/run_csv.hpp"
#include "framework/report/file/output_file.hpp"
#include "framework/report/json/json_beginning.hpp"
#include "framework/report/json/run_json.hpp"
#include "framework/report/terminal/run_table.hpp"
#include "framework/run/session.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/interrupt.hpp"
#include "tools/graphline/pipeline_options.hpp"
#include "tools/graphline/progress_line.hpp"
#include "tools/graphline/terminal_look.hpp"
#include "tools/graphline/watch_line.hpp"

namespace graphline {
namespace {

struct run_arguments {
  pipeline_options pipeline;
  std::string json;
  std::string csv;
  std::string tensors;
  bool kernels = false;
  bool quiet = false;
  bool watch = false;
};

/// Where the results go, opened before the run.
class run_outputs {
 public:
  run_outputs(const run_arguments& given, const plan& p) : tensors_(given.tensors) {
    if (given.json == "-" && given.csv == "-") {
      throw input_error("--json - and --csv -: only one result can go to standard output");
    }
    const auto stages = p.stages.size();
    if (!given.json.empty()) {
      json_.emplace(given.json, json_beginning, expected_json_bytes(p.run.frames, stages));
    }
    if (!given.csv.empty()) {
      csv_.emplace(given.csv, csv_header, expected_csv_bytes(p.run.frames, stages));
    }
    if (!tensors_.empty()) make_folder();
  }

  /// Prints what is for people. A problem is kept for `write`, since the results come first.
  void show(const run_record& record) {
    const bool taken =
        (json_ && json_->is_standard_output()) || (csv_ && csv_->is_standard_output());
    std::FILE* stream = taken ? stderr : stdout;
    const auto table = run_table(record, look_of(stream));
    attempt([&] {
      if (std::fputs(table.c_str(), stream) >= 0 && std::fflush(stream) == 0) return;
      throw run_error(fmt::format("cannot write to standard {}: {}", taken ? "error" : "output",
                                  std::generic_category().message(errno)));
    });
  }

  /// Writes the tensors, if asked for. A problem is kept for `write`.
  void save_tensors(const run_record& record, session& s) {
    if (!tensors_.empty() && !record.failure) attempt([&] { s.save_tensors(tensors_); });
  }

  /// Writes all that can be written; throws the first problem only after that.
  void write(const run_record& record) {
    if (json_) attempt([&] { json_->commit(run_json(record)); });
    if (csv_) attempt([&] { csv_->commit(run_csv(record)); });
    if (problem_) std::rethrow_exception(problem_);
  }

 private:
  template <class Step>
  void attempt(Step&& step) {
    try {
      step();
    } catch (const error&) {
      if (!problem_) problem_ = std::current_exception();
    }
  }

  void make_folder() const {
    std::error_code problem;
    std::filesystem::create_directories(tensors_, problem);
    if (problem) {
      throw input_error(fmt::format("--save-tensors {}: cannot make the folder: {}", tensors_,
                                    problem.message()));
    }
    if (::access(tensors_.c_str(), W_OK | X_OK) != 0) {
      throw input_error(fmt::format("--save-tensors {}: cannot write there: {}", tensors_,
                                    std::generic_category().message(errno)));
    }
  }

  std::string tensors_;
  std::optional<output_file> json_;
  std::optional<output_file> csv_;
  std::exception_ptr problem_;  ///< the first
};

/// What the table would have said of a run that did not go well.
void tell_trouble(const run_record& record) {
  for (const auto& warning : summarize(record).warnings) {
    fmt::print(stderr, "warning: {}\n", printable(warning));
  }
  if (record.failure) fmt::print(stderr, "error: {}\n", printable(*record.failure));
}

exit_status run_pipeline(run_arguments& given) {
  const stop_request& stop = stop_on_interrupt();
  plan p = given.pipeline.make_plan();
  const auto device = given.pipeline.open_device(p);
  run_outputs outputs(given, p);

  session s(std::move(p), *device, &stop);
  progress_line line(given.quiet);
  watch_line watched;
  run_options options;
  options.stop = &stop;
  options.tell_latest = given.watch;
  options.on_progress = [&](const progress& at) {
    if (given.watch) return watched.show(at);
    line.show(at.warmup ? "warming up" : "measuring", at.done, at.total, "frames");
  };
  run_record record = s.run(options);
  line.erase();
  watched.erase();

  outputs.save_tensors(record, s);
  const bool trace = given.kernels && !record.failure && !record.interrupted;
  if (trace) s.trace_operations(record, &stop);
  const bool interrupted = record.interrupted || (trace && stop.raised());
  if (given.quiet) {
    tell_trouble(record);
  } else {
    outputs.show(record);
  }
  outputs.write(record);
  if (record.failure) return exit_status::run_failed;
  return interrupted ? exit_status::interrupted : exit_status::done;
}

}  // namespace

void add_run_command(CLI::App& program, action& chosen) {
  auto* command = program.add_subcommand("run", "Run a pipeline and show where the time goes");
  auto given = std::make_shared<run_arguments>();
  given->pipeline.add_to(
      *command, {"strategy", "graphs", "timing", "in_flight", "wait", "priorities", "frames",
                 "warmup", "seed", "threads", "deadline", "arrival", "rate", "queue", "when_full"});
  command->add_option("--json", given->json, "Write the result, every sample included")
      ->type_name("FILE");
  command->add_option("--csv", given->csv, "Write one row per frame and stage")->type_name("FILE");
  command
      ->add_option("--save-tensors", given->tensors,
                   "Write inputs, weights and outputs as NumPy files")
      ->type_name("DIR");
  command->add_flag("--kernels", given->kernels,
                    "Trace the operations of each device stage, after the measured frames");
  command->add_flag("--watch", given->watch,
                    "Show percentiles of the frames so far, on standard error, while it runs");
  add_quiet_option(*command, given->quiet);
  command->footer(
      "FILE may be - for standard output.\n"
      "--watch takes some tens of microseconds ten times a second, from the thread that drives "
      "the\n"
      "frames: a frame in which that falls is longer by it. Where standard error is no terminal "
      "it\n"
      "writes a line every two seconds.");
  command->callback([&chosen, given] { chosen = [given] { return run_pipeline(*given); }; });
}

}  // namespace graphline
