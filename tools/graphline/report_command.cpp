#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "framework/base/utf8.hpp"
#include "framework/report/csv/experiment_csv.hpp"
#include "framework/report/csv/run_csv.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/html/html_page.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/store/record_reader.hpp"
#include "framework/report/trace/trace_file.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/result_outputs.hpp"
#include "tools/graphline/terminal_look.hpp"

namespace graphline {
namespace {

struct report_arguments {
  std::string result;
  std::string html;
  std::string trace;
  std::string csv;
  std::string markdown;
  std::vector<std::size_t> frames;
};

/// Digits only: a conversion takes -1 for the largest of all numbers.
std::string not_a_frame(const std::string& text) {
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(),
                                                   [](char c) { return c >= '0' && c <= '9'; });
  if (digits && text.size() <= 18) return {};
  return fmt::format("{} is no frame's number; frames are counted from 0", quote(text));
}

void check_frames(const report_arguments& given, const run_record& record) {
  for (const auto frame : given.frames) {
    if (frame < record.frames.size()) continue;
    if (record.frames.empty()) {
      throw input_error(fmt::format("--frame {}: the run has no frames", frame));
    }
    throw input_error(
        fmt::format("--frame {}: the run's frames are 0 to {}", frame, record.frames.size() - 1));
  }
}

void make_reports(const report_arguments& given, const run_record& record) {
  check_frames(given, record);
  const auto frames = static_cast<std::int64_t>(record.frames.size());
  const auto stages = record.stages.size();
  result_outputs outputs({{"--html", given.html, html_beginning, largest_page_bytes},
                          {"--trace", given.trace, trace_file_beginning(given.trace),
                           expected_trace_file_bytes(given.trace, frames, stages)},
                          {"--csv", given.csv, csv_header, expected_csv_bytes(frames, stages)},
                          {"--markdown", given.markdown, "## "}},
                         {given.result});
  const auto analysis = analyze(record);
  const auto says = report::describe(record, analysis);
  if (outputs.empty()) outputs.show(report::as_text(says, look_of(outputs.for_people())));
  outputs.write("--html", [&](text_sink& to) {
    to.append(report::as_html(report::describe(record, analysis, given.frames)));
  });
  outputs.write("--trace", [&](text_sink& to) { write_trace_file(to, record, given.trace); });
  outputs.write("--csv", [&](text_sink& to) { write_run_csv(to, record); });
  outputs.write("--markdown", [&](text_sink& to) { to.append(report::as_markdown(says)); });
  outputs.finish();
}

/// Of what is not about single frames. `what`: "a roofline". `csv`: where its CSV is not a table of
/// the document.
void make_reports(const report_arguments& given, const report::document& says,
                  std::string_view what, const std::function<void(text_sink&)>& csv = {}) {
  if (!given.trace.empty()) {
    throw input_error(fmt::format(
        "--trace {}: {} holds {}, and a trace shows one run; make it by 'graphline run' with "
        "--trace FILE",
        quote(given.trace, 200), quote(given.result, 200), what));
  }
  if (!given.frames.empty()) {
    throw input_error(
        fmt::format("--frame {}: {} holds {}, whose page shows no single frames; omit --frame",
                    given.frames.front(), quote(given.result, 200), what));
  }
  result_outputs outputs({{"--html", given.html, html_beginning},
                          {"--csv", given.csv, csv ? experiment_csv_beginning : ""},
                          {"--markdown", given.markdown, "## "}},
                         {given.result});
  if (outputs.empty()) outputs.show(report::as_text(says, look_of(outputs.for_people())));
  outputs.write("--html", [&](text_sink& to) { to.append(report::as_html(says)); });
  outputs.write("--csv", [&](text_sink& to) {
    if (csv) {
      csv(to);
    } else {
      to.append(report::as_csv(says));
    }
  });
  outputs.write("--markdown", [&](text_sink& to) { to.append(report::as_markdown(says)); });
  outputs.finish();
}

void make_reports(const report_arguments& given, const experiment_record& record) {
  make_reports(given, report::describe(record), "an experiment",
               [&](text_sink& to) { write_experiment_csv(to, record); });
}

void make_reports(const report_arguments& given, const roofline_record& record) {
  make_reports(given, report::describe(record), "a roofline");
}

void make_reports(const report_arguments& given, const calibration_record& record) {
  make_reports(given, report::describe(record), "a calibration");
}

void make_reports(const report_arguments& given, const capacity_record& record) {
  make_reports(given, report::describe(record), "a search for the highest rate");
}

exit_status make_reports(const report_arguments& given) {
  if (!given.frames.empty() && given.html.empty()) {
    throw input_error(fmt::format("--frame {}: it puts a frame into the page; add --html FILE",
                                  given.frames.front()));
  }
  std::visit([&](const auto& record) { make_reports(given, record); }, read_record(given.result));
  return exit_status::done;
}

}  // namespace

void add_report_command(CLI::App& program, action& chosen) {
  auto* command = add_command(program, "report", "Show a saved result, or make files of it");
  auto given = std::make_shared<report_arguments>();
  command
      ->add_option("RESULT.json", given->result,
                   "What run, compare, roofline, calibrate or capacity wrote to --json")
      ->required();
  command->add_option("--html", given->html, "Write it as a page for a browser")->type_name("FILE");
  command
      ->add_option("--trace", given->trace,
                   "Write a run as a trace for Perfetto; compressed where\nFILE ends in .gz")
      ->type_name("FILE");
  command->add_option("--csv", given->csv, "Write one row per frame and stage")->type_name("FILE");
  command->add_option("--markdown", given->markdown, "Write tables and findings for a pull request")
      ->type_name("FILE");
  command
      ->add_option("--frame", given->frames,
                   "Put the timeline of this frame into the page, from 0; may be given again")
      ->type_name("N")
      ->check(not_a_frame)
      ->expected(1)
      ->take_all();
  command->footer(
      "Without FILE it prints the table. FILE may be - for standard output, RESULT.json for "
      "standard input.");
  command->callback([&chosen, given] {
    if (given->result == "-") given->result = "/dev/stdin";
    chosen = [given] { return make_reports(*given); };
  });
}

}  // namespace graphline
