#include "tools/graphline/run_results.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "framework/analysis/analyze.hpp"
#include "framework/analysis/ranks/ranks_summary.hpp"
#include "framework/analysis/run/summary.hpp"
#include "framework/report/csv/stamps_csv.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/heading.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/trace/trace_json.hpp"
#include "tools/graphline/common_options.hpp"
#include "tools/graphline/terminal.hpp"

namespace graphline {
namespace {

bool has_stage(const rank_record& rank, const std::string& name) {
  return rank.run &&
         std::ranges::find(rank.run->stages, name, &stage_record::name) != rank.run->stages.end();
}

/// Judges each rank. Returns the first that fails, else the first that cannot be judged, else the
/// largest value. Of a pipeline in parts, judges the frames that all ranks completed.
gate_result judge_ranks(const gate& of, const ranks_record& record,
                        const ranks_analysis& analysis) {
  const bool of_frames = of.stage.empty() && of.metric != "device_memory" && of.metric != "error";
  if (record.parts && of_frames) {
    if (analysis.whole) return judge(of, *analysis.whole, analysis.whole_summary);
    return {of, gate_outcome::not_judged, {}, "a rank is lost, or its clock unknown"};
  }
  // A stage of a pipeline in parts is on one rank.
  const bool of_one_rank = record.parts && std::ranges::any_of(record.ranks, [&](const auto& rank) {
                             return has_stage(rank, of.stage);
                           });
  std::optional<gate_result> worst;
  for (std::size_t r = 0; r < record.ranks.size(); ++r) {
    if (of_one_rank && !has_stage(record.ranks[r], of.stage)) continue;
    gate_result found{of, gate_outcome::not_judged, {}, record.ranks[r].lost};
    if (analysis.ranks[r]) found = judge(of, *record.ranks[r].run, analysis.ranks[r]->summary);
    const auto badness = [](const gate_result& result) {
      return std::pair(result.outcome == gate_outcome::passed   ? 0
                       : result.outcome == gate_outcome::failed ? 2
                                                                : 1,
                       result.value ? result.value->value : 0);
    };
    found.why = name_of(record.ranks[r]) + (found.why.empty() ? "" : ", ") + found.why;
    if (!worst || badness(found) > badness(*worst)) worst = std::move(found);
  }
  return *worst;
}

}  // namespace

void run_results::add_files_to(CLI::App& command) {
  files.add_json(command);
  files.add_html(command, "Write a page for a browser: tables, charts and timeline");
  files.add(command, "--trace", "Write a trace for Perfetto");
  files.add_markdown(command);
  files.add(command, "--csv", "Write one row per frame and stage");
}

void run_results::add_gates_to(CLI::App& command) {
  gates.add_to(command, gated::run, files);
  add_quiet_option(command, quiet);
  command.footer("FILE may be - for standard output.");
}

exit_status run_results::report(result_outputs& outputs, const run_record& record,
                                bool interrupted) {
  const auto analysis = analyze(record);
  const auto says = report::describe(record, analysis);
  outputs.show(says, quiet);
  print_failure(record.failure);
  const auto ended = exit_status_of(record.failure.has_value(), interrupted);
  const auto status = gates.judge(
      [&](const gate& of) { return judge(of, record, analysis.summary); },
      {fmt::format("graphline {} {}", record.prediction ? "predict" : "run", record.pipeline),
       {{"device", device_of(record.device)}},
       {}},
      outputs, quiet, ended);
  outputs.write("--json", [&](text_sink& to) { report::write_json(to, says, &record); });
  outputs.write("--trace", [&](text_sink& to) { write_trace(to, record); });
  outputs.write("--csv", [&](text_sink& to) { write_run_csv(to, record); });
  outputs.write(says);
  outputs.finish();
  return status;
}

exit_status run_results::report(result_outputs& outputs, const ranks_record& record) {
  const auto analysis = analyze(record);
  const auto says = report::describe(record, analysis);
  outputs.show(says, quiet);
  bool failed = record.failure.has_value();
  for (const rank_record& rank : record.ranks) failed |= !rank.run || rank.run->failure.has_value();
  const auto ended = exit_status_of(failed, record.interrupted);
  const auto status = gates.judge([&](const gate& of) { return judge_ranks(of, record, analysis); },
                                  {fmt::format("graphline run {}", first_run(record).pipeline),
                                   {{"ranks", fmt::to_string(record.ranks.size())},
                                    {"device", device_of(first_run(record).device)}},
                                   {}},
                                  outputs, quiet, ended);
  outputs.write("--json", [&](text_sink& to) { report::write_json(to, says, &record); });
  outputs.write("--trace", [&](text_sink& to) { write_trace(to, record); });
  outputs.write(says);
  outputs.finish();
  return status;
}

}  // namespace graphline
