#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "framework/analysis/stats/distribution.hpp"
#include "framework/base/quantity.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/terminal/diff_origin.hpp"
#include "framework/report/terminal/diff_table.hpp"
#include "framework/report/terminal/heading.hpp"
#include "framework/report/terminal/text_table.hpp"

namespace graphline {

namespace {

using enum text_table::align;

/// A unit that both values of a row are in.
struct row_unit {
  std::string_view name;
  double size = 1;
};

double larger(const figure_change& change) {
  return std::max(change.before.value_or(0), change.after.value_or(0));
}

row_unit byte_unit(const figure_change& bytes) {
  constexpr row_unit units[] = {{"B", 1}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}};
  const auto* found = std::find_if(std::begin(units), std::end(units), [&](const row_unit& unit) {
    return larger(bytes) < 1023.5 * unit.size;
  });
  return found == std::end(units) ? units[std::size(units) - 1] : *found;
}

row_unit time_row_unit(double largest_ns) {
  const auto unit = unit_for(largest_ns);
  return {unit.name, unit.nanoseconds};
}

std::string cell(const std::optional<double>& value, double size) {
  return value ? three_digits(*value / size, 3) : "-";
}

void add_row(text_table& table, std::string_view name, const figure_change& change, row_unit unit) {
  table.add_row({fmt::format("{} ({})", name, unit.name), cell(change.before, unit.size),
                 cell(change.after, unit.size), percent_cell(change)});
}

bool known(const figure_change& change) {
  return change.before || change.after;
}

std::string figure_table(const run_diff& diff, const look& as) {
  text_table table({{"", left, 16}, {"before"}, {"after"}, {"change %"}});
  const auto mean = diff.mean();
  const auto unit = time_row_unit(larger(mean));
  if (known(mean)) add_row(table, "end to end mean", mean, unit);
  for (const auto& [name, p] : shown_percentiles) {
    const auto change = diff.percentile(p);
    if (change.before && change.after) {
      add_row(table, fmt::format("end to end {}", name), change, unit);
    }
  }
  if (known(diff.throughput)) add_row(table, "throughput", diff.throughput, {"frame/s"});
  if (known(diff.missed)) add_row(table, "deadline missed", diff.missed, {"% of frames", 0.01});
  add_row(table, "device memory at peak", diff.device_peak_bytes,
          byte_unit(diff.device_peak_bytes));
  add_row(table, "pinned memory at peak", diff.pinned_peak_bytes,
          byte_unit(diff.pinned_peak_bytes));
  return table.text(as);
}

bool timed(const std::optional<saved_stage>& stage) {
  return stage && stage->times;
}

/// What a stage's times are times of: one word where that is the same in both.
std::string measures(const stage_change& change) {
  const auto word = [](const std::optional<saved_stage>& stage) {
    return timed(stage) ? std::string(short_name(*stage->what)) : std::string();
  };
  const auto before = word(change.stages.before);
  const auto after = word(change.stages.after);
  if (before.empty() && after.empty()) return "-";
  if (before.empty() || before == after) return after;
  return after.empty() ? before : fmt::format("{}, {}", before, after);
}

std::string stage_table(const run_diff& diff, const look& as) {
  double largest = 0;
  for (const auto& stage : diff.stages) largest = std::max(largest, larger(stage.median()));
  const auto unit = time_row_unit(largest);
  text_table table({{fmt::format("stage ({})", unit.name), left, 10},
                    {"time is", left, 0, 1},
                    {"before"},
                    {"after"},
                    {"change %"}});
  for (const auto& stage : diff.stages) {
    const auto median = stage.median();
    table.add_row({table_name(stage.name, as.room(28)), measures(stage),
                   cell(median.before, unit.size), cell(median.after, unit.size),
                   stage.same_measure() ? percent_cell(median) : "-"});
  }
  return table.text(as);
}

/// "only before: a, b"; empty for none.
std::string only_line(std::string_view when, const run_diff& diff,
                      std::optional<saved_stage> before_after<std::optional<saved_stage>>::*other,
                      const look& as) {
  std::string names;
  for (const auto& stage : diff.stages) {
    if (stage.stages.*other) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", printable(stage.name));
  }
  return names.empty() ? "" : paragraph(fmt::format("stages only {}: {}", when, names), 2, as);
}

std::string output_words(const output_change& output) {
  using finding = output_change::finding;
  switch (output.found) {
    case finding::same:
      return "the same";
    case finding::other_type:
      return "of another shape or type, so not compared";
    case finding::only_before:
      return "only before";
    case finding::only_after:
      return "only after";
    case finding::differs:
      break;
  }
  if (!output.largest) return "differs by checksum; the files hold no values to tell by how much";
  const auto values = counted(static_cast<std::int64_t>(output.compared), "value");
  if (*output.largest == 0) {
    return fmt::format("differs by checksum, but not in the {} saved of it", values);
  }
  auto text = fmt::format("differs by up to {:.2g}", *output.largest);
  if (output.relative) text += fmt::format(", {:.2g} of the largest value", *output.relative);
  return text + fmt::format(" (of {} compared)", values);
}

std::string not_finite(const before_after<bool>& finite) {
  if (finite.before && finite.after) return "";
  const auto* when = finite.after ? "before" : finite.before ? "after" : "in both";
  return fmt::format("; holds NaN or infinity {}", when);
}

std::string output_lines(const run_diff& diff, const look& as) {
  std::string text;
  for (const auto& output : diff.outputs) {
    text += paragraph(fmt::format("output {}: {}{}", printable(output.tensor), output_words(output),
                                  not_finite(output.finite)),
                      2, as);
  }
  return text;
}

/// That a run did not come to its end, since its figures are then of fewer frames.
std::string ending_lines(const run_diff& diff, const look& as) {
  std::string text;
  const auto add = [&](const saved_origin& origin, bool interrupted,
                       const std::optional<std::string>& failure,
                       const std::optional<distribution>& times) {
    const auto frames = counted(static_cast<std::int64_t>(times ? times->count() : 0), "frame");
    const auto file = printable(origin.file);
    if (failure) {
      text += paragraph(fmt::format("{}: FAILED after {}: {}", file, frames, printable(*failure)),
                        2, as, tone::bad);
    }
    if (interrupted)
      text += paragraph(fmt::format("{}: INTERRUPTED after {}", file, frames), 2, as, tone::bad);
  };
  const auto& [before, after] = diff.origin.origins;
  add(before, diff.interrupted.before, diff.failure.before, diff.end_to_end.before);
  add(after, diff.interrupted.after, diff.failure.after, diff.end_to_end.after);
  return text.empty() ? "" : "\n" + text;
}

/// The change that people look for first.
std::string answer(const run_diff& diff, const look& as) {
  const auto p50 = diff.percentile(0.5);
  const bool by_p50 = p50.before && p50.after;
  const auto change = by_p50 ? p50 : diff.mean();
  const auto what = subject_prefix(diff.origin);
  if (!change.before || !change.after) {
    const bool measured = diff.end_to_end.before && diff.end_to_end.after;
    return paragraph(what + (measured ? "no latency to compare: a run was overloaded"
                                      : "not both runs have measured a frame"),
                     2, as, tone::heading);
  }
  return paragraph(
      fmt::format("{}{} end to end {}", what, by_p50 ? "p50" : "mean", durations_in_words(change)),
      2, as, tone::heading);
}

/// "p95 needs 59, p99 needs 299": the percentiles that are not in both.
std::string missing_percentiles(const run_diff& diff, const look& as) {
  std::string text;
  const auto unsettled = [](const std::optional<distribution>& times) {
    return times && !times->why_unsettled().empty();
  };
  if (unsettled(diff.end_to_end.before) || unsettled(diff.end_to_end.after)) return "";
  for (const auto& [name, p] :
       std::span(shown_percentiles).first(std::size(shown_percentiles) - 1)) {
    const auto change = diff.percentile(p);
    if (change.before && change.after) continue;
    text += fmt::format("{}{} needs {}", text.empty() ? "" : ", ", name, samples_needed(p));
  }
  return text.empty() ? ""
                      : paragraph("left out, with too few frames in one or both: " + text, 2, as,
                                  tone::faint);
}

/// Settings that change what is computed, or which frame is the last, where they differ and outputs
/// do: "frames, params.batch".
std::string causes_of_other_outputs(const run_diff& diff) {
  const bool differ = std::any_of(
      diff.outputs.begin(), diff.outputs.end(),
      [](const output_change& output) { return output.found == output_change::finding::differs; });
  std::string text;
  for (const auto& setting : diff.origin.settings) {
    const auto& name = setting.name;
    const bool matters =
        name == "seed" || name == "frames" || name == "warmup" || name.starts_with("params.");
    if (differ && matters) text += (text.empty() ? "" : ", ") + printable(name);
  }
  return text;
}

std::string notes(const run_diff& diff, bool stages, const look& as) {
  std::string text = paragraph(
      "One run each: how much runs differ from each other is not known, so there is no verdict; "
      "'graphline compare' tells.",
      0, as, tone::faint);
  text += missing_percentiles(diff, as);
  if (const auto causes = causes_of_other_outputs(diff); !causes.empty()) {
    text += paragraph("output: of the last frame; what else differs may be why: " + causes, 2, as,
                      tone::faint);
  }
  if (!stages) return text;
  text += paragraph("stage: of the median frame", 2, as, tone::faint);
  const bool mixed =
      std::any_of(diff.stages.begin(), diff.stages.end(), [](const stage_change& change) {
        return timed(change.stages.before) && timed(change.stages.after) && !change.same_measure();
      });
  if (mixed) {
    text += paragraph(
        "where a stage's time is not the same kind of time in both, there is no change to give; "
        "make both runs with the same timing",
        2, as, tone::faint);
  }
  return text;
}

}  // namespace

std::string diff_table(const run_diff& diff, const look& as) {
  using side_by_side = before_after<std::optional<saved_stage>>;
  std::string text = subjects_line(diff.origin, "pipelines", as) + answer(diff, as);
  text +=
      file_lines(diff.origin, as) + ending_lines(diff, as) + "\n" + figure_table(diff, as) + "\n";
  const bool stages =
      std::any_of(diff.stages.begin(), diff.stages.end(), [](const stage_change& change) {
        return timed(change.stages.before) || timed(change.stages.after);
      });
  if (stages) text += stage_table(diff, as) + "\n";
  const auto only = only_line("before", diff, &side_by_side::after, as) +
                    only_line("after", diff, &side_by_side::before, as);
  const auto outputs = output_lines(diff, as);
  if (!only.empty() || !outputs.empty()) text += only + outputs + "\n";
  return text + differences_table(diff.origin, as) + "\n" + notes(diff, stages, as);
}

}  // namespace graphline
