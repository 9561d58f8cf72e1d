#include <algorithm>
#include <vector>

#include "framework/report/describe/experiment_view.hpp"

namespace graphline::report {

namespace {

struct stage_of_configuration {
  configuration_member who;
  const std::string& pipeline;
  const member_summary::stage& of;
};

}  // namespace

void add_rows(document& to, const experiment_view& of) {
  using enum unit;
  table made{"rows",
             "stages that ran differently",
             "stage",
             "",
             {{"stage", "stage"},
              {"member", of.several_at_once ? "pipeline" : ""},
              {"configuration", "configuration"},
              {"ran", "ran %", share, 0, "% of the frames"},
              {"rows", "rows", count, 0, "the mean of the frames that ran the stage"}},
             {},
             shown};
  made.titled = true;
  std::vector<stage_of_configuration> all;
  for (const auto& who : of.labels.all()) {
    for (const auto& stage : of.of(who).stages) {
      if (stage.ran) all.push_back({who, of.of(who).name, stage});
    }
  }
  for (const auto& one : all) {
    const bool differs = std::ranges::any_of(all, [&one](const stage_of_configuration& other) {
      return other.pipeline == one.pipeline && other.of.name == one.of.name &&
             (other.of.ran != one.of.ran || other.of.mean_rows != one.of.mean_rows);
    });
    if (!differs) continue;
    made.rows.push_back(
        {{one.of.name, of.several_at_once ? cell(one.pipeline) : cell(), of.short_name(one.who),
          cell(one.of.ran, share), cell(one.of.mean_rows, count)}});
  }
  std::ranges::stable_sort(
      made.rows, {}, [](const row& one) { return std::get<std::string>(one.cells.front().value); });
  if (!made.rows.empty()) to.parts.push_back(std::move(made));
}

}  // namespace graphline::report
