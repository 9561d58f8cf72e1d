#include "framework/plan/experiment_plan.hpp"

#include <algorithm>
#include <set>

#include "framework/base/utf8.hpp"
#include "framework/plan/experiment_unit.hpp"

namespace graphline {
namespace planning {
namespace {

/// One unit for each configuration; one with what all have in common where there is none, since its
/// reader found mistakes in them, so that the pipeline's own are told too.
std::vector<experiment_unit> configuration_units(const experiment_spec& spec,
                                                 const pipeline_file& file, telling_once& tell) {
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

/// Adds the configurations of one pipeline.
void plan_configurations(const experiment_spec& spec, experiment_files& files,
                         stage_registry& registry, const plan_target& target, telling_once& tell,
                         experiment_plan& result) {
  if (spec.pipeline.text.empty()) return;  // the reader has said so
  diagnostics missing;
  const pipeline_file* file = files.open(spec.pipeline, missing);
  tell(missing);
  if (file == nullptr) return;

  std::vector<experiment_unit> units = configuration_units(spec, *file, tell);
  std::vector<const experiment_unit*> all;
  for (experiment_unit& unit : units) {
    plan_unit(unit, registry, target);
    all.push_back(&unit);
  }
  attribute_diagnostics(spec, all, tell);

  for (std::size_t c = 0; c < spec.configurations.size(); ++c) {
    const configuration_spec& declared = spec.configurations[c];
    result.configurations.push_back(finished(declared, units[c]));
    if (declared.reference != c) result.pairs.push_back({{c, 0}, {declared.reference, 0}});
  }
}

/// The members that have a file, as units to plan.
std::vector<experiment_unit> member_units(const experiment_spec& spec, experiment_files& files,
                                          telling_once& tell) {
  std::vector<experiment_unit> units;
  for (std::size_t m = 0; m < spec.together.size(); ++m) {
    const member_spec& member = spec.together[m];
    if (member.pipeline.text.empty()) continue;  // the reader has said so
    diagnostics found;
    if (const pipeline_file* file = files.open(member.pipeline, found)) {
      experiment_unit& unit = units.emplace_back();
      unit.file = file;
      unit.index = m;
      for (const assignment& a : member.run) unit.settings.push_back(&a);
      const experiment_keys keys(*file);
      keys.check_parameters(member.params, found);
      keys.add_parameters(member.params, unit);
      unit.priority = member.priority;
      unit.run_place = run_place_of(member.run);
    }
    tell(found);
  }
  return units;
}

void report_members(const experiment_spec& spec, const std::vector<experiment_unit>& units,
                    telling_once& tell) {
  std::set<const pipeline_file*> done;
  for (const experiment_unit& first : units) {
    if (!done.insert(first.file).second) continue;
    std::vector<const experiment_unit*> of_file;
    for (const experiment_unit& unit : units) {
      if (unit.file == first.file) of_file.push_back(&unit);
    }
    attribute_diagnostics(spec, of_file, tell);
  }
}

/// Whether there is anything that `priorities: off` would change.
bool priorities_differ(const std::vector<experiment_unit>& units) {
  std::set<priority> used;
  for (const experiment_unit& unit : units) {
    for (const planned_stream& stream : unit.planned.streams) used.insert(stream.priority);
  }
  return used.size() > 1;
}

planned_configuration all_together(const experiment_spec& spec, std::string name,
                                   const std::vector<experiment_unit>& units) {
  planned_configuration all;
  all.what.name = std::move(name);
  for (const experiment_unit& unit : units) {
    all.what.members.push_back(spec.together[unit.index].name.text);
    all.members.push_back(unit.planned);
  }
  return all;
}

/// Adds the configurations and pairs of pipelines that run at once.
void plan_together(const experiment_spec& spec, experiment_files& files, stage_registry& registry,
                   const plan_target& target, telling_once& tell, experiment_plan& result) {
  std::vector<experiment_unit> units = member_units(spec, files, tell);
  for (experiment_unit& unit : units) plan_unit(unit, registry, target);
  report_members(spec, units, tell);

  const std::size_t members = units.size();
  for (const experiment_unit& unit : units) {
    const std::string& name = spec.together[unit.index].name.text;
    result.configurations.push_back({{name + " alone", {}, {name}}, {unit.planned}});
  }
  result.configurations.push_back(all_together(spec, "together", units));
  for (std::size_t m = 0; m < members; ++m) result.pairs.push_back({{members, m}, {m, 0}});
  if (!priorities_differ(units)) return;

  for (experiment_unit& unit : units) {
    unit.without_priorities = true;
    unit.found = {};  // nothing that was not found with priorities
    plan_unit(unit, registry, target);
  }
  result.configurations.push_back(all_together(spec, "together without priorities", units));
  for (std::size_t m = 0; m < members; ++m) {
    result.pairs.push_back({{members, m}, {members + 1, m}});
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
