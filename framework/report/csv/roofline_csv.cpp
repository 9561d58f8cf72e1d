#include "framework/report/csv/roofline_csv.hpp"

#include <fmt/format.h>

#include <iterator>
#include <optional>

#include "framework/analysis/roofline/roofline.hpp"
#include "framework/analysis/run/summary.hpp"
#include "framework/report/csv/csv_rows.hpp"

namespace graphline {

namespace {

void add_row(std::string& text, std::string_view names, const roofline_figures& of,
             const std::optional<double>& share) {
  fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", names,
                 to_word(of.cost.arithmetic), csv_number(of.cost.flops),
                 csv_number(of.cost.bytes_read), csv_number(of.cost.bytes_written),
                 csv_number(of.intensity), of.by ? to_word(*of.by) : std::string_view(),
                 csv_number(of.memory_time), csv_number(of.compute_time), csv_number(of.least),
                 csv_number(of.earliest), csv_number(of.measured), csv_number(of.ratio),
                 csv_number(share));
}

void add_device_stage(std::string& text, const stage_record& stage, const roofline_stage& of) {
  const auto name = csv_field(stage.name);
  const auto kind = csv_field(stage.kind);
  add_row(text, fmt::format("stage,{},,{},device", name, kind), of.figures, of.share_of_path);
  for (std::size_t p = 0; p < of.parts.size(); ++p) {
    add_row(text, fmt::format("part,{},{},{},device", name, csv_field(stage.parts[p].name), kind),
            of.parts[p], std::nullopt);
  }
}

void add_cpu_stage(std::string& text, const stage_record& stage) {
  const auto median = median_cpu_time(stage);
  fmt::format_to(std::back_inserter(text), "stage,{},,{},cpu,,,,,,,,,,,{},,\n",
                 csv_field(stage.name), csv_field(stage.kind),
                 median ? fmt::to_string(*median) : std::string());
}

}  // namespace

std::string roofline_csv(const roofline_record& record) {
  std::string text(roofline_csv_header);
  const auto summary = hold_against_roofline(record.stages, &record.layers);
  if (!summary) return text;
  auto next = summary->stages.begin();
  for (std::size_t s = 0; s < record.stages.stages.size(); ++s) {
    if (next != summary->stages.end() && next->stage == s) {
      add_device_stage(text, record.stages.stages[s], *next++);
    } else {
      add_cpu_stage(text, record.stages.stages[s]);
    }
  }
  return text;
}

}  // namespace graphline
