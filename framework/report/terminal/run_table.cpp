#include "framework/report/terminal/run_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "framework/analysis/graph_cost.hpp"
#include "framework/analysis/summary.hpp"
#include "framework/base/units.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/terminal/device_detail.hpp"
#include "framework/report/terminal/heading.hpp"
#include "framework/report/terminal/percentiles.hpp"
#include "framework/report/terminal/quantity.hpp"
#include "framework/report/terminal/text_table.hpp"

namespace graphline {

namespace {

using column = text_table::column;
constexpr auto left = text_table::align::left;

/// "name        text", the text wrapped under itself.
std::string fact(std::string_view name, std::string_view text, const look& as) {
  constexpr std::size_t indent = 12;
  return paragraph(fmt::format("{:<{}}{}", name, indent, text), indent, as);
}

std::optional<double> as_double(const std::optional<nanoseconds>& ns) {
  return ns ? std::optional(static_cast<double>(*ns)) : std::nullopt;
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

std::string end_to_end_table(const distribution& times, const look& as) {
  const auto unit = unit_for(times.mean());  // not the largest: one outlier would blur the rest
  std::vector<column> columns = {{fmt::format("end to end ({})", unit.name), left}};
  std::vector<std::string> cells = {""};
  const auto add = [&](std::string_view name, std::optional<double> ns) {
    columns.push_back({std::string(name)});
    cells.push_back(in_unit(ns, unit));
  };
  add("mean", times.mean());
  add("stddev", times.stddev());
  add("min", static_cast<double>(times.min()));
  for (const auto& [name, p] : shown_percentiles) add(name, as_double(times.percentile(p)));
  add("max", static_cast<double>(times.max()));
  text_table table(std::move(columns));
  table.add_row(std::move(cells));
  return table.text(as);
}

/// The largest of a figure over all stages, for the unit of its columns.
template <class Figure>
double largest(const run_summary& summary, std::size_t column_index, Figure figure) {
  double most = 0;
  for (const auto& stage : summary.stages) {
    if (stage.columns.size() <= column_index || !stage.columns[column_index].times) continue;
    most = std::max(most, static_cast<double>(figure(*stage.columns[column_index].times)));
  }
  return most;
}

std::string stage_table(const run_record& record, const run_summary& summary, const look& as) {
  const auto unit = unit_for(largest(summary, 0, [](const distribution& d) { return d.mean(); }));
  const double launch = largest(summary, 1, [](const distribution& d) { return d.mean(); });
  const bool launches = launch > 0;
  const auto launch_unit = unit_for(launch);

  std::vector<column> columns = {{fmt::format("stage ({})", unit.name), left},
                                 {"time is", left},
                                 {"mean"},
                                 {"stddev"},
                                 {"p50"},
                                 {"p90"},
                                 {"max"},
                                 {"share %"}};
  if (launches) columns.push_back({fmt::format("enqueue {}", launch_unit.name)});
  text_table table(std::move(columns));
  for (std::size_t i = 0; i < summary.stages.size(); ++i) {
    const auto& stage = summary.stages[i];
    if (stage.columns.empty() || !stage.columns.front().times) continue;
    const auto& times = *stage.columns.front().times;
    std::vector<std::string> cells = {table_name(record.stages[i].name),
                                      std::string(short_name(stage.columns.front().what)),
                                      in_unit(times.mean(), unit),
                                      in_unit(times.stddev(), unit),
                                      in_unit(as_double(times.percentile(0.5)), unit),
                                      in_unit(as_double(times.percentile(0.9)), unit),
                                      in_unit(static_cast<double>(times.max()), unit),
                                      stage.share ? three_digits(100 * *stage.share, 2) : "-"};
    if (launches) {
      const bool launched = stage.columns.size() > 1 && stage.columns[1].times;
      cells.push_back(launched ? in_unit(stage.columns[1].times->mean(), launch_unit) : "");
    }
    table.add_row(std::move(cells));
  }
  return table.text(as);
}

std::string throughput_fact(const run_summary& summary, const look& as) {
  auto text = three_digits(*summary.throughput) + " frame/s";
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
  auto text = fmt::format("at most {} waited, found full {}, dropped {} of {}",
                          counted(found.longest_queue, "frame"), counted(found.found_full, "time"),
                          load.dropped, counted(static_cast<std::int64_t>(load.due), "frame"));
  if (load.queue_wait) {
    text += fmt::format("; {} (median) and {} (worst) from due to begin",
                        format_duration(static_cast<double>(load.queue_wait->median())),
                        format_duration(static_cast<double>(load.queue_wait->max())));
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

/// "p95 needs 59, p99 needs 299": what the sample does not carry.
std::string missing_percentiles(const distribution& times) {
  std::string text;
  for (const auto& [name, p] : shown_percentiles) {
    if (times.percentile(p)) continue;
    text += fmt::format("{}{} needs {}", text.empty() ? "" : ", ", name, samples_needed(p));
  }
  return text;
}

std::string clock_note(const run_record& record, const look& as) {
  const auto in_words = [](nanoseconds ns) { return format_duration(static_cast<double>(ns)); };
  auto text = fmt::format("clock: device times stand on the host's clock to within {}",
                          in_words(record.clock_error));
  if (record.clock_drift != 0) {
    text += fmt::format(", of which {} are drift over the measured frames",
                        in_words(std::abs(record.clock_drift)));
  }
  return paragraph(text, 2, as, tone::faint);
}

std::string notes(const run_record& record, const run_summary& summary, const look& as) {
  std::string text;
  if (const auto missing = missing_percentiles(*summary.end_to_end); !missing.empty()) {
    text += paragraph(fmt::format("-: too few frames: {}", missing), 2, as, tone::faint);
  }
  const auto timing = record.run.timing;
  if (timing != timing_method::none && !record.stages.empty()) {
    text += paragraph("share: of the mean end to end; stages that overlap add up to more than 100",
                      2, as, tone::faint);
  }
  text += paragraph(fmt::format("timing {}: {}", to_word(timing), meaning_of(timing)), 2, as,
                    tone::faint);
  const bool device_times = timing == timing_method::event || timing == timing_method::layers;
  if (device_times && record.clock_error > 0) text += clock_note(record, as);
  return text;
}

}  // namespace

std::string run_table(const run_record& record, const look& as) {
  const auto summary = summarize(record);
  std::string text = heading(record, as) + "\n";
  if (summary.end_to_end) {
    text += end_to_end_table(*summary.end_to_end, as) + "\n";
    if (record.run.timing != timing_method::none && !record.stages.empty()) {
      text += stage_table(record, summary, as) + "\n";
      text += part_tables(record, summary, as);
    }
    if (summary.throughput) text += throughput_fact(summary, as);
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
                             output.checksum),
                 as);
  }
  text += operation_table(record, as);
  if (summary.end_to_end) {
    text += '\n';
    text += notes(record, summary, as);
  }
  if (!summary.warnings.empty()) text += '\n';
  for (const auto& warning : summary.warnings) {
    text += paragraph("warning: " + printable(warning), 2, as, tone::warning);
  }
  return text;
}

}  // namespace graphline
