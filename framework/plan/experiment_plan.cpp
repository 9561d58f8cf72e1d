#include "framework/plan/experiment_plan.hpp"

#include <algorithm>
#include <utility>

#include "framework/base/utf8.hpp"
#include "framework/plan/experiment_blame.hpp"
#include "framework/plan/experiment_files.hpp"
#include "framework/plan/experiment_keys.hpp"
#include "framework/plan/experiment_together.hpp"
#include "framework/plan/experiment_unit.hpp"

namespace graphline {
namespace planning {
namespace {

/// One unit for each configuration; one with what all have in common where there is none, since its
/// reader found mistakes in them, so that the pipeline's own are told too.
std::vector<experiment_unit> units_of(const experiment_spec& spec, const pipeline_file& file,
                                      telling_once& tell) {
  const experiment_keys keys(file);
  diagnostics found;
  keys.check_parameters(spec.params, found);
  std::vector<experiment_unit> units(std::max<std::size_t>(1, spec.configurations.size()));
  for (std::size_t c = 0; c < units.size(); ++c) {
    experiment_unit& unit = units[c];
    unit.file = &file;
    unit.index = c;
    for (const assignment& a : spec.run) unit.settings.push_back(&a);
    keys.add_parameters(spec.params, unit);
    unit.run_place = run_place_of(spec.run);
    if (spec.configurations.empty()) continue;
    // The keys of a grid are the same in each.
    if (c == 0 || !spec.varied) keys.check(spec.configurations[c].assignments, found);
    keys.distribute(spec.configurations[c].assignments, unit);
  }
  tell(found);
  return units;
}

planned_configuration finished(const configuration_spec& spec, experiment_unit& unit) {
  planned_configuration result;
  result.what.name = spec.name.text;
  for (const assignment& a : spec.assignments) {
    result.what.assignments.emplace_back(printable(a.key.text), printable(a.value.in_one_line()));
  }
  result.what.members = {unit.planned.pipeline};
  result.members.push_back(std::move(unit.planned));
  return result;
}

void plan_configurations(const experiment_spec& spec, experiment_files& files,
                         stage_registry& registry, const plan_target& target, telling_once& tell,
                         experiment_plan& result) {
  if (spec.pipeline.text.empty()) return;  // the reader has said so
  diagnostics missing;
  const pipeline_file* file = files.open(spec.pipeline, missing);
  tell(missing);
  if (file == nullptr) return;

  std::vector<experiment_unit> units = units_of(spec, *file, tell);
  std::vector<const experiment_unit*> all;
  for (experiment_unit& unit : units) {
    plan_unit(unit, registry, target);
    all.push_back(&unit);
  }
  report_units(spec, all, tell);

  for (std::size_t c = 0; c < spec.configurations.size(); ++c) {
    const configuration_spec& declared = spec.configurations[c];
    result.configurations.push_back(finished(declared, units[c]));
    if (declared.reference != c) result.pairs.push_back({{c, 0}, {declared.reference, 0}});
  }
}

}  // namespace
}  // namespace planning

experiment_plan plan_experiment(const experiment_spec& spec, stage_registry& registry,
                                const plan_target& target, diagnostics& out) {
  experiment_plan result;
  result.name = spec.name.text;
  result.description = spec.description;
  result.how = spec.how;

  planning::experiment_files files(spec);
  planning::telling_once tell(out);
  if (spec.together.empty()) {
    planning::plan_configurations(spec, files, registry, target, tell, result);
  } else {
    planning::plan_together(spec, files, registry, target, tell, result);
  }
  result.files = files.checksums();
  result.sources = files.sources();
  result.files.emplace_back("device", target.backend);
  return result;
}

}  // namespace graphline
