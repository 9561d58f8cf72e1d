#include "framework/report/terminal/run_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "framework/analysis/run/graph_cost.hpp"
#include "framework/analysis/run/summary.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/base/quantity.hpp"
#include "framework/base/units.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/terminal/attribution_table.hpp"
#include "framework/report/terminal/device_detail.hpp"
#include "framework/report/terminal/heading.hpp"
#include "framework/report/terminal/run_times.hpp"
#include "framework/report/terminal/text_table.hpp"

namespace graphline {

namespace {

/// "name        text", the text wrapped under itself.
std::string fact(std::string_view name, std::string_view text, const look& as) {
  constexpr std::size_t indent = 12;
  return paragraph(fmt::format("{:<{}}{}", name, indent, text), indent, as);
}

std::string heading(const run_record& record, const look& as) {
  const auto& run = record.run;
  const auto parameters = parameters_of(record);
  std::string text = paragraph(subject_of(record), 2, as, tone::heading);
  text += paragraph(fmt::format("{}, timing {}", way_of(run), to_word(run.timing)), 2, as);
  text +=
      paragraph(fmt::format("{}{}{} after {} warm-up", parameters, parameters.empty() ? "" : "; ",
                            counted(run.frames, "frame"), run.warmup),
                2, as);
  const auto done = fmt::format("{} of {}", record.frames.size(), counted(run.frames, "frame"));
  if (record.failure) {
    text += '\n';
    text += paragraph(fmt::format("FAILED after {}: {}", done, printable(*record.failure)), 2, as,
                      tone::bad);
  }
  if (record.interrupted) {
    text += '\n';
    text += paragraph(fmt::format("INTERRUPTED after {}", done), 0, as, tone::bad);
  }
  return text;
}

std::string throughput_fact(const run_summary& summary, const look& as) {
  auto text = summary.throughput ? three_digits(*summary.throughput) + " frame/s"
                                 : "-: " + summary.why_no_throughput;
  if (summary.load && summary.load->offered) {
    text += fmt::format("; {} frame/s were due", three_digits(*summary.load->offered));
  }
  return fact("throughput", text, as);
}

std::string deadline_fact(const deadline_summary& deadline, std::size_t frames, std::size_t dropped,
                          const look& as) {
  auto text = fmt::format("{}: ", format_duration(static_cast<double>(deadline.limit)));
  if (deadline.missed == 0) {
    text += fmt::format("met by {}",
                        frames == 1 ? "the one frame" : fmt::format("all {} frames", frames));
  } else {
    text += fmt::format("missed by {} of {}, by {} (median) and {} (worst)", deadline.missed,
                        counted(static_cast<std::int64_t>(frames), "frame"),
                        format_duration(static_cast<double>(*deadline.median_late)),
                        format_duration(static_cast<double>(*deadline.worst_late)));
  }
  if (dropped > 0)
    text += fmt::format("; {} more {} dropped", dropped, dropped == 1 ? "was" : "were");
  return fact("deadline", text, as);
}

std::string queue_fact(const run_record& record, const load_summary& load, const look& as) {
  const auto& found = record.load;
  auto text = fmt::format("{}; {} found the queue full; dropped {} of {}", most_waited(record),
                          counted(found.found_full, "arrival"), load.dropped,
                          counted(static_cast<std::int64_t>(load.due), "frame"));
  if (const auto& wait = load.queue_wait) {
    text += fmt::format(
        "; {} (median) and {} (worst) from due to begin",
        wait->why_unsettled().empty() ? format_duration(static_cast<double>(wait->median())) : "-",
        format_duration(static_cast<double>(wait->max())));
  }
  return fact("queue", text, as);
}

std::string memory_fact(const memory_usage& memory, const look& as) {
  return fact(
      "memory",
      fmt::format("{} on the device at peak, {} pinned", format_bytes(memory.device_peak_bytes),
                  format_bytes(memory.pinned_peak_bytes)),
      as);
}

std::string clock_note(const run_record& record, const look& as) {
  const auto in_words = [](nanoseconds ns) { return format_duration(static_cast<double>(ns)); };
  auto text = fmt::format("clock: device times stand on the host's clock to within {}",
                          in_words(record.clock_error));
  if (record.clock_drift != 0) {
    text += fmt::format("; a drift of {} over the frames is taken out of them",
                        in_words(std::abs(record.clock_drift)));
  }
  return paragraph(text, 2, as, tone::faint);
}

std::string notes(const run_record& record, const run_analysis& analysis, const floors& held,
                  bool shapes, const look& as) {
  std::string text;
  const auto& times = *analysis.summary.end_to_end;
  if (const auto why = why_absent(times); !why.empty()) {
    text += paragraph("-: " + why, 2, as, tone::faint);
  }
  if (!analysis.intervals.empty()) text += paragraph(interval_note(), 2, as, tone::faint);
  const auto timing = record.run.timing;
  if (timing != timing_method::none && !record.stages.empty()) {
    // Only `layers` times the parts of stages.
    text += paragraph(
        fmt::format("share: of the mean end to end{}; stages that overlap add up to more than 100",
                    timing == timing_method::layers ? ", of a part of its stage's mean" : ""),
        2, as, tone::faint);
  }
  if (held.any_stage()) text += paragraph(floor_note(record), 2, as, tone::faint);
  if (shapes) {
    text += paragraph(
        "shape: how often which times occurred, the shortest left, each row on a scale of its own; "
        "< and >: a few lie far beyond",
        2, as, tone::faint);
  }
  text += paragraph(fmt::format("timing {}: {}", to_word(timing), meaning_of(timing)), 2, as,
                    tone::faint);
  const bool device_times = timing == timing_method::event || timing == timing_method::layers;
  if (device_times && record.clock_error > 0) text += clock_note(record, as);
  return text;
}

}  // namespace

std::string run_table(const run_record& record, const run_analysis& analysis, const look& as) {
  const auto& summary = analysis.summary;
  const floors held(analysis.roofline);
  std::string text = heading(record, as);
  if (!summary.findings.empty()) text += '\n';
  for (const auto& finding : summary.findings) text += paragraph(finding, 2, as, tone::bad);
  text += '\n';
  bool shapes = false;
  if (summary.end_to_end) {
    const auto times = times_of(record, analysis, held, as);
    text += times.text + part_tables(record, summary, held, as);
    shapes = times.shapes;
    if (const auto& where = analysis.attribution) {
      text += attribution_table(record, *where, as) + "\n";
    }
    if (summary.throughput || !summary.why_no_throughput.empty()) {
      text += throughput_fact(summary, as);
    }
    if (summary.deadline) {
      text +=
          deadline_fact(*summary.deadline, record.frames.size(), record.load.dropped.size(), as);
    }
  } else {
    text += "No frame was measured.\n\n";
  }
  if (summary.load) text += queue_fact(record, *summary.load, as);
  text += memory_fact(record.memory, as);
  if (const auto cost = graph_cost_of(record)) text += fact("graphs", graph_sentence(*cost), as);
  for (const auto& output : record.outputs) {
    text += fact("output",
                 fmt::format("{} {}, checksum {}", printable(output.tensor), to_string(output.type),
                             printable(output.checksum)),
                 as);
  }
  text += operation_table(record, as);
  if (summary.end_to_end) {
    text += '\n';
    text += notes(record, analysis, held, shapes, as);
  }
  if (!summary.warnings.empty()) text += '\n';
  for (const auto& warning : summary.warnings) {
    text += paragraph("warning: " + printable(warning), 2, as, tone::warning);
  }
  return text;
}

}  // namespace graphline
