// The commands that read saved results: report and diff.

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "framework/base/utf8.hpp"
#include "framework/report/csv/stamps_csv.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/heading.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/store/record_reader.hpp"
#include "framework/report/trace/trace_json.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/common_options.hpp"
#include "tools/graphline/gate_options.hpp"
#include "tools/graphline/result_outputs.hpp"
#include "tools/graphline/terminal.hpp"

namespace graphline {
namespace {

struct report_arguments {
  std::string result;
  std::int64_t rank = -1;  ///< whose run to report; -1: the whole result
  result_files files;
};

/// Replaces the result of several ranks by the run of one.
void choose_rank(any_record& record, const report_arguments& given) {
  if (given.rank < 0) return;
  auto* const ranks = std::get_if<ranks_record>(&record);
  if (ranks == nullptr) {
    throw input_error(fmt::format("--rank {}: {} is not the result of a run on several ranks",
                                  given.rank, quote(given.result, 200)));
  }
  const auto at = static_cast<std::size_t>(given.rank);
  if (at >= ranks->ranks.size()) {
    throw input_error(fmt::format("--rank {}: the run was on ranks 0 to {}", given.rank,
                                  ranks->ranks.size() - 1));
  }
  if (!ranks->ranks[at].run) {
    throw input_error(
        fmt::format("--rank {}: this rank was lost: {}", given.rank, ranks->ranks[at].lost));
  }
  run_record chosen = std::move(*ranks->ranks[at].run);
  chosen.pipeline += fmt::format(" (rank {} of {})", given.rank, ranks->ranks.size());
  record = any_record(std::move(chosen));
}

exit_status make_reports(const report_arguments& given) {
  auto record = read_record(given.result);
  choose_rank(record, given);
  const auto* run = std::get_if<run_record>(&record);
  const auto* ranks = std::get_if<ranks_record>(&record);
  const auto& trace = given.files.path("--trace");
  if (run == nullptr && ranks == nullptr && !trace.empty()) {
    throw input_error(fmt::format(
        "--trace {}: {} is not the result of one run; 'graphline run' with --trace FILE makes a "
        "trace",
        quote(trace, 200), quote(given.result, 200)));
  }
  const auto says = std::visit([](const auto& of) { return report::describe(of); }, record);
  result_outputs outputs(given.files, {given.result});
  if (outputs.empty()) outputs.show(says);
  if (run != nullptr) {
    outputs.write("--trace", [&](text_sink& to) { write_trace(to, *run); });
    outputs.write("--csv", [&](text_sink& to) { write_run_csv(to, *run); });
  }
  if (ranks != nullptr) {
    outputs.write("--trace", [&](text_sink& to) { write_trace(to, *ranks); });
  }
  if (const auto* experiment = std::get_if<experiment_record>(&record)) {
    outputs.write("--csv", [&](text_sink& to) { write_experiment_csv(to, *experiment); });
  }
  outputs.write(says);  // writes the other formats
  outputs.finish();
  return exit_status::done;
}

struct diff_arguments {
  std::string before;
  std::string after;
  result_files files;
  gate_options gates;
};

void show(const report::document& diff, result_outputs& outputs) {
  outputs.show(diff);
  outputs.write("--json", [&](text_sink& to) { report::write_json(to, diff); });
  outputs.write(diff);
}

exit_status show_runs(const diff_arguments& given, run_record first, run_record second,
                      result_outputs& outputs) {
  const auto analyzed = [](const std::string& file, run_record record) {
    auto analysis = analyze(record);
    return analyzed_run{file, std::move(record), std::move(analysis)};
  };
  const auto before = analyzed(given.before, std::move(first));
  const auto after = analyzed(given.after, std::move(second));
  show(report::diff(before, after), outputs);
  report::gate_suite suite{
      "graphline diff " + after.record.pipeline,
      {{"before", before.file}, {"after", after.file}, {"device", device_of(after.record.device)}},
      {}};
  return given.gates.judge([&](const gate& of) { return judge(of, before, after); }, suite, outputs,
                           false, exit_status::done);
}

exit_status show_experiments(const diff_arguments& given, const experiment_record& before,
                             const experiment_record& after, result_outputs& outputs) {
  const auto found = compare(before, after, {given.before, given.after});
  show(report::diff(before, after, found), outputs);
  report::gate_suite suite{
      "graphline diff " + after.name, {{"before", given.before}, {"after", given.after}}, {}};
  if (!after.trials.empty()) {
    suite.properties.emplace_back("device", device_of(after.trials.front().members.front().device));
  }
  return given.gates.judge([&](const gate& of) { return judge(of, found); }, suite, outputs, false,
                           exit_status::done);
}

exit_status show_difference(const diff_arguments& given) {
  auto records = read_records(given.before, given.after);
  result_outputs outputs(given.files, {given.before, given.after});
  const auto status = std::visit(
      [&](auto& first) {
        using kind = std::decay_t<decltype(first)>;
        auto& second = std::get<kind>(records.second);
        if constexpr (std::is_same_v<kind, run_record>) {
          return show_runs(given, std::move(first), std::move(second), outputs);
        } else if constexpr (std::is_same_v<kind, experiment_record>) {
          return show_experiments(given, first, second, outputs);
        } else {
          if (!given.gates.gates().empty()) {
            throw input_error(
                "--fail-if needs results of one run, of compare or of overhead: others do not say "
                "how much frames or trials vary");
          }
          show(report::diff(report::describe(first), report::describe(second), given.before,
                            given.after),
               outputs);
          return exit_status::done;
        }
      },
      records.first);
  outputs.finish();
  return status;
}

}  // namespace

void add_report_command(CLI::App& program, action& chosen) {
  auto* command =
      add_command(program, "report", "Show a saved result, or write it in other formats");
  auto given = std::make_shared<report_arguments>();
  command->add_option("RESULT.json", given->result, "A --json result of " + commands_read())
      ->required();
  command->add_option("--rank", given->rank, "Of a run on several ranks, the run of this one")
      ->type_name("N")
      ->check(in_range(0, 9999));
  given->files.add_html(*command, "Write a page for a browser");
  given->files.add(*command, "--trace", "Write a trace of a run for Perfetto");
  given->files.add(*command, "--csv", "Write one row per frame and stage");
  given->files.add_markdown(*command);
  command->footer(
      "Without an option it prints the table. FILE may be - for standard output, RESULT.json may "
      "be\n"
      "- for standard input.");
  command->callback([&chosen, given] {
    if (given->result == "-") given->result = "/dev/stdin";
    chosen = [given] { return make_reports(*given); };
  });
}

void add_diff_command(CLI::App& program, action& chosen) {
  auto* command = add_command(program, "diff", "Show what changed between two saved results");
  auto given = std::make_shared<diff_arguments>();
  command->add_option("BEFORE.json", given->before, "A --json result of " + commands_read())
      ->required();
  command->add_option("AFTER.json", given->after, "A later result of the same command")->required();
  given->files.add_json(*command, "Write the difference (- for standard output)");
  given->files.add_markdown(*command);
  given->gates.add_to(*command, gated::comparison, given->files);
  command->callback([&chosen, given] { chosen = [given] { return show_difference(*given); }; });
}

}  // namespace graphline
