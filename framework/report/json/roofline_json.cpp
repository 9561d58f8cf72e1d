#include "framework/report/json/roofline_json.hpp"

#include <algorithm>
#include <optional>

#include "framework/analysis/roofline/roofline.hpp"
#include "framework/analysis/run/summary.hpp"
#include "framework/report/json/common_json.hpp"
#include "framework/report/json/json_text.hpp"
#include "framework/report/json/record_json.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

json figure_json(const ceiling_figure& figure, std::string_view unit) {
  return {{"ceiling", to_word(figure.what)},
          {"unit", unit},
          {"value", figure.value},
          {"worst", figure.worst},
          {"best", figure.best}};
}

json roofs_json(const roofline_summary& summary) {
  json compute = json::array();
  for (const auto& roof : summary.roofs) {
    json entry = {{"precision", to_word(roof.arithmetic)}};
    entry.update(figure_json(roof.rate, "FLOP/s"));
    entry["knee"] = roof.knee;
    compute.push_back(std::move(entry));
  }
  return {{"memory", figure_json(summary.bandwidth, "B/s")}, {"compute", std::move(compute)}};
}

json figures_json(const roofline_figures& of) {
  return {{"flops", or_null(of.cost.flops)},
          {"bytes_read", or_null(of.cost.bytes_read)},
          {"bytes_written", or_null(of.cost.bytes_written)},
          {"precision", to_word(of.cost.arithmetic)},
          {"intensity", or_null(of.intensity)},
          {"unit", "ms"},
          {"memory_time", ms_or_null(of.memory_time)},
          {"compute_time", ms_or_null(of.compute_time)},
          {"least", ms_or_null(of.least)},
          {"earliest", ms_or_null(of.earliest)},
          {"bound", of.by ? json(to_word(*of.by)) : json()},
          {"measured", ms_or_null(of.measured)},
          {"ratio", or_null(of.ratio)},
          {"beats_its_floor", of.beats_its_floor}};
}

json stage_json(const stage_record& stage, const roofline_stage& of) {
  json result = {{"name", stage.name}, {"kind", stage.kind}, {"on", to_word(stage.on)}};
  if (stage.copy) result["copy"] = true;
  result.update(figures_json(of.figures));
  result["share_of_path"] = or_null(of.share_of_path);
  json parts = json::array();
  for (std::size_t p = 0; p < of.parts.size(); ++p) {
    json part = {{"name", stage.parts[p].name}, {"choice", stage.parts[p].choice}};
    part.update(figures_json(of.parts[p]));
    parts.push_back(std::move(part));
  }
  result["parts"] = std::move(parts);
  return result;
}

/// No roof stands for it.
json cpu_stage_json(const stage_record& stage) {
  const auto median = median_cpu_time(stage);
  return {{"name", stage.name},
          {"kind", stage.kind},
          {"on", to_word(stage.on)},
          {"unit", "ms"},
          {"measured", median ? json(milliseconds(*median)) : json()}};
}

json stages_json(const run_record& record, const roofline_summary& summary) {
  json stages = json::array();
  auto next = summary.stages.begin();
  for (std::size_t s = 0; s < record.stages.size(); ++s) {
    const bool on_device = next != summary.stages.end() && next->stage == s;
    stages.push_back(on_device ? stage_json(record.stages[s], *next++)
                               : cpu_stage_json(record.stages[s]));
  }
  return stages;
}

void add_summary(json& to, const run_record& record, const roofline_summary& summary) {
  to["roofs"] = roofs_json(summary);
  to["least"] = {{"unit", "ms"}, {"value", ms_or_null(summary.least)}};
  to["stages"] = stages_json(record, summary);
  json first = json::array();
  for (const auto i : summary.by_gain) {
    first.push_back(record.stages[summary.stages[i].stage].name);
  }
  to["by_gain"] = std::move(first);
  to["findings"] = roofline_findings(record, summary);
}

}  // namespace

void write_roofline_json(text_sink& to, const roofline_record& record) {
  const auto& stages = record.stages;
  auto result = json::object();
  result["schema"] = "graphline.roofline/1";
  result["pipeline"] = stages.pipeline;
  result["description"] = stages.description;
  result["device"] = device_json(stages.device);
  result["settings"] = settings_json(stages);
  result["settings"].erase("timing");
  result["environment"] = texts_json(stages.environment);
  if (stages.calibration) {
    result["calibration"] = {{"date", stages.calibration->date},
                             {"stale", stages.calibration->stale}};
  }
  if (const auto summary = hold_against_roofline(stages, &record.layers)) {
    add_summary(result, stages, *summary);
  }
  result["warnings"] = warnings_of(record);
  result["interrupted"] = stages.interrupted || record.layers.interrupted;
  result["failure"] = or_null(stages.failure ? stages.failure : record.layers.failure);
  const last_entry raw = {"record", [&record](text_sink& sink) {
                            compact_json text(sink);
                            text.open('{');
                            write_record(text.key("stages"), record.stages);
                            write_record(text.key("layers"), record.layers);
                            text.close('}').finish();
                          }};
  write_json(to, result, &raw);
}

std::uint64_t expected_roofline_json_bytes(std::int64_t frames, std::size_t stages) {
  constexpr std::uint64_t around = 32768;       // device, settings, environment, of both runs
  constexpr std::uint64_t around_stage = 8192;  // its figures and those of its parts
  constexpr std::uint64_t stamp = sizeof "123456789012,";
  const auto samples = static_cast<std::uint64_t>(std::max<std::int64_t>(frames, 0));
  return around + stages * around_stage + 2 * samples * (3 + 4 * stages) * stamp;
}

}  // namespace graphline
