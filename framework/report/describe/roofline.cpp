#include <fmt/format.h>

#include <algorithm>

#include "framework/analysis/roofline/ceilings.hpp"
#include "framework/report/describe/describe.hpp"

namespace graphline::report {

namespace {

/// Returns FLOP/s; empty if a figure is unknown or not above 0.
std::optional<double> rate_over(const cost_record& cost, const std::optional<double>& ns) {
  if (!cost.flops || *cost.flops <= 0 || !ns || *ns <= 0) return std::nullopt;
  return static_cast<double>(*cost.flops) * 1e9 / *ns;
}

// ---- Stages and parts ---------------------------------------------------------------------------

/// A stage or a part. CPU stages have only a time, since ceilings are known only for the device.
struct roofline_row {
  std::string name;
  const stage_record& stage;
  const part_record* part = nullptr;
  std::optional<std::int64_t> rows = {};  ///< of the bucket
  const roofline_metrics& of;
  std::optional<double> share = {};
  cell device = {};  ///< of a device stage, if there are several
};

/// Returns all columns; that of devices is for runs on several.
const std::vector<column_of<roofline_row>>& roofline_columns() {
  using enum unit;
  using p = const roofline_row&;
  static const std::vector<column_of<roofline_row>> columns = {
      {{"name", "stage"}, [](p x) { return x.name; }},
      {{"kind", "kind", {}, 0, "", not_in_text},
       [](p x) { return x.part == nullptr ? cell(x.stage.kind) : cell(); }},
      {data_column("on"), [](p x) { return x.stage.on; }},
      {{.key = "device", .title = "device", .optional = true}, [](p x) { return x.device; }},
      {{"kernel", "kernel", {}, 0, "", not_in_text},
       [](p x) { return x.part ? unless_empty(x.part->choice) : cell(); }},
      {{"precision", "precision", {}, 0, "", not_in_text},
       [](p x) { return x.stage.on == side::device ? cell(x.of.cost.arithmetic) : cell(); }},
      {{.key = "rows", .where = in_data, .optional = true}, [](p x) { return cell(x.rows); }},
      {{"flops", "FLOPs", flops, 4}, [](p x) { return cell(x.of.cost.flops, flops); }},
      {{"bytes", "bytes", bytes, 5, "", shown},
       [](p x) { return cell(bytes_of(x.of.cost), bytes); }},
      {data_column("bytes_read", bytes), [](p x) { return cell(x.of.cost.bytes_read, bytes); }},
      {data_column("bytes_written", bytes),
       [](p x) { return cell(x.of.cost.bytes_written, bytes); }},
      {{"bytes_rearranged", "rearranged", bytes, 6,
        "what Graphline reads and writes beyond them, to copy into another order; not in the "
        "bound"},
       [](p x) { return cell(x.of.cost.bytes_rearranged, bytes); }},
      {{"intensity", "FLOP/B", flops_per_byte, 3},
       [](p x) { return cell(x.of.intensity, flops_per_byte); }},
      {{"bound", "limit", {}, 2}, [](p x) { return x.of.by; }},
      {data_column("memory_time", duration), [](p x) { return cell(x.of.memory_time, duration); }},
      {data_column("compute_time", duration),
       [](p x) { return cell(x.of.compute_time, duration); }},
      {{"roofline_time", "bound", duration, 0,
        "roofline time, the larger of bytes over bandwidths and FLOPs over rate; for a stage with "
        "parts, their sum"},
       [](p x) { return cell(x.of.roofline_time, duration); }},
      {data_column("best_roofline_time", duration),
       [](p x) { return cell(x.of.best_roofline_time, duration); }},
      {{"measured", "p50", duration, 0, "the median measured time; for parts, under timing layers",
        everywhere, true},
       [](p x) { return cell(x.of.measured, duration); }},
      {{"ratio", "ratio", ratio, 0, "p50 over bound; docs/roofline.md says what it means",
        everywhere, true},
       [](p x) { return cell(x.of.ratio, ratio); }},
      {data_column("below_roofline"),
       [](p x) { return x.stage.on == side::device ? cell(x.of.below_roofline) : cell(); }},
      {{"share_of_critical_path", "path", share, 1, "% of the critical path of a frame"},
       [](p x) { return cell(x.share, share); }}};
  return columns;
}

roofline_metrics cpu_metrics(const stage_record& stage) {
  roofline_metrics only_measured;
  only_measured.measured = p50_of(distribution::of(times_of(stage, measure::cpu_time)));
  return only_measured;
}

table stage_table(const run_record& run, const roofline_summary& summary) {
  auto columns = roofline_columns();
  const bool several = run.devices.size() > 1;
  if (!several) std::erase_if(columns, [](const auto& one) { return one.is.key == "device"; });
  table made{"stages", "Stages and parts", "stage", "part", columns_of(columns), {}};
  const bool rearranges = std::ranges::any_of(summary.stages, [](const roofline_stage& stage) {
    return stage.figures.cost.bytes_rearranged.value_or(0) > 0;
  });
  if (!rearranges)
    std::ranges::find(made.columns, "bytes_rearranged", &column::key)->where = in_data;
  auto next = summary.stages.begin();
  for (std::size_t s = 0; s < run.stages.size(); ++s) {
    const auto& stage = run.stages[s];
    if (next == summary.stages.end() || next->stage != s) {
      made.rows.push_back(
          row_of(roofline_row{stage.name, stage, nullptr, {}, cpu_metrics(stage)}, columns));
      continue;
    }
    for (; next != summary.stages.end() && next->stage == s; ++next) {
      const auto rows =
          stage.buckets.empty() ? std::optional<std::int64_t>() : stage.buckets[next->bucket].rows;
      made.rows.push_back(
          row_of(roofline_row{name_of(run, *next), stage, nullptr, rows, next->figures,
                              next->share_of_path,
                              several ? cell(run.devices[stage.device_index].name) : cell()},
                 columns));
      for (const auto& [index, figures] : next->parts) {
        const auto& part = stage.parts[index];
        made.rows.push_back(
            row_of(roofline_row{part.name, stage, &part, rows, figures}, columns, 1));
      }
    }
  }
  return made;
}

// ---- What it comes to ---------------------------------------------------------------------------

facts totals(const roofline_analysis& analysis) {
  const auto& summary = *analysis.roofline;
  const auto p50 = p50_of(analysis.stages.end_to_end);
  const auto& measured = summary.measured;
  const auto& roofline = summary.roofline_time;
  std::optional<double> times;
  if (measured && roofline && *measured > 0 && *roofline > 0) times = *measured / *roofline;
  const bool varies = std::ranges::any_of(
      summary.stages, [](const roofline_stage& stage) { return stage.share_of_frames < 1; });
  const std::string by = varies ? ", each by its share of frames" : "";
  using enum unit;
  return {
      "totals",
      "Totals",
      {{"end_to_end", "end to end", cell(p50, duration), "the median frame"},
       {"measured", "device stages", cell(measured, duration), "sum of their medians" + by},
       {"roofline_time", "roofline", cell(roofline, duration), "sum of their roofline times" + by},
       {"ratio", "ratio", cell(times, ratio), "measured over roofline"}}};
}

/// How keys and titles name a device; both are empty if there is only one.
struct device_naming {
  device_naming(const run_record& run, std::size_t device) {
    if (run.devices.size() < 2) return;
    const auto& name = run.devices[device].name;
    in_key = "_" + name;
    in_title = " of " + name;
  }
  std::string in_key;
  std::string in_title;
};

facts ceilings_used(const roofline_device& at, const calibration& from,
                    const device_naming& naming) {
  facts made{"", "Ceilings" + naming.in_title, {}, shown};
  made.list.push_back({"memory", "memory", cell(at.bandwidth.value, unit::bytes_per_second),
                       label_of(at.bandwidth.what, precision::float32)});
  for (const auto& of : at.compute) {
    const auto name = std::string(to_word(of.arithmetic));
    made.list.push_back({name, name, cell(of.rate.value, unit::flops_per_second),
                         fmt::format("{}; ridge point {}", label_of(of.rate.what, of.arithmetic),
                                     to_text({of.ridge_point, unit::flops_per_byte}))});
  }
  made.list.push_back({"calibrated", "calibrated", from.date});
  return made;
}

// ---- The chart ----------------------------------------------------------------------------------

/// Returns the text of a point's tooltip.
std::string words_of(const roofline_metrics& of, double rate) {
  using enum unit;
  auto text = fmt::format("{} in {}: {} · {} · {} measured",
                          to_text({static_cast<double>(*of.cost.flops), flops}),
                          to_word(of.cost.arithmetic), to_text({*of.intensity, flops_per_byte}),
                          to_text({rate, flops_per_second}), to_text({*of.measured, duration}));
  if (of.ratio) text += fmt::format(" · {} roofline", to_text({*of.ratio, ratio}));
  return text;
}

chart chart_of(const run_record& run, const roofline_summary& summary, const roofline_device& at,
               const device_naming& naming) {
  roofline_chart drawn;
  drawn.bandwidth = at.bandwidth.value;
  for (std::size_t i = 0; i < summary.stages.size(); ++i) {
    const auto& held = summary.stages[i];
    if (run.stages[held.stage].device_index != at.device) continue;
    const auto name = name_of(run, held);
    // Does not draw work without FLOPs, bytes or a time.
    const auto add = [&](const roofline_metrics& of, const std::optional<double>& share,
                         const std::string& part) {
      const auto rate = rate_over(of.cost, of.measured);
      if (!rate || of.intensity.value_or(0) <= 0) return false;
      drawn.points.push_back({name, part, i, *of.intensity, *rate, share, words_of(of, *rate)});
      return true;
    };
    if (!add(held.figures, held.share_of_path, "")) drawn.without.push_back(name);
    if (held.parts.size() < 2) continue;  // a single part would repeat the stage
    for (const auto& part : held.parts) {
      add(part.figures, {}, run.stages[held.stage].parts[part.index].name);
    }
  }
  for (const auto& of : at.compute) {
    drawn.ceilings.push_back({std::string(to_word(of.arithmetic)), of.rate.value, of.ridge_point});
  }
  std::ranges::sort(drawn.ceilings, {}, &roofline_chart::ceiling::rate);
  return {"roofline" + naming.in_key, "Roofline" + naming.in_title,
          "Achieved FLOP/s over FLOPs per byte moved, both logarithmic. Left of a ridge point "
          "memory bandwidth is the ceiling, right of it the rate of the arithmetic. A point above "
          "its ceiling does not move all of its bytes through memory, or its cost or the "
          "calibration is wrong. The area of a mark is its share of the critical path.",
          std::move(drawn)};
}

}  // namespace

document describe(const roofline_record& record, const roofline_analysis& analysis) {
  const auto& run = record.stages;
  document made{"roofline", run.pipeline, run.description, {}, {}, {}, "stages"};
  const bool parts = !record.layers.frames.empty();
  made.lines = heading_of(run, fmt::format("timing={}{}", to_word(run.run.timing),
                                           parts ? ", parts under timing layers" : ""));
  add_failures(made, run, " under timing event");
  add_failures(made, record.layers, " under timing layers");
  for (std::size_t d = 0; d < std::max<std::size_t>(1, run.devices.size()); ++d) {
    const auto& from = calibration_of(run, d);
    if (!from) continue;
    made.parts.push_back(facts{"calibration" + device_naming(run, d).in_key,
                               "",
                               {{"date", "", from->date}, {"stale", "", from->stale}},
                               in_data,
                               true});
  }
  if (analysis.roofline) {
    const auto& summary = *analysis.roofline;
    made.parts.push_back(stage_table(run, summary));
    const auto least = samples_needed(0.5);
    const auto measured = record.layers.frames.size();
    if (run.frames.size() < least || (parts && measured < least)) {
      made.parts.push_back(note{fmt::format("-: too few frames: p50 needs {}", least)});
    }
    made.parts.push_back(totals(analysis));
    for (const auto& at : summary.devices) {
      const device_naming naming(run, at.device);
      const auto& from = *calibration_of(run, at.device);
      made.parts.push_back(ceilings_used(at, from, naming));
      made.parts.push_back(chart_of(run, summary, at, naming));
      auto ceilings = ceiling_table(from.ceilings);
      ceilings.key += naming.in_key;
      if (!naming.in_title.empty()) ceilings.title = "Ceilings" + naming.in_title;
      ceilings.where = not_in_text;
      made.parts.push_back(std::move(ceilings));
    }
    std::vector<std::string> first;
    for (const auto i : summary.by_gain) first.push_back(name_of(run, summary.stages[i]));
    made.parts.push_back(facts{"", "", {{"by_gain", "", first}}, in_data});
  } else {
    made.findings.push_back({"no_roofline", finding_severity::failure});
  }
  made.findings.insert(made.findings.end(), analysis.findings.begin(), analysis.findings.end());
  const auto& failure = run.failure ? run.failure : record.layers.failure;
  made.parts.push_back(facts{
      "",
      "",
      {{"interrupted", "", run.interrupted || record.layers.interrupted}, {"failure", "", failure}},
      in_data});
  add_origin(made, run, run.run);
  return made;
}

}  // namespace graphline::report
