#include "framework/plan/experiment_together.hpp"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "framework/plan/experiment_keys.hpp"
#include "framework/plan/experiment_unit.hpp"

namespace graphline::planning {
namespace {

/// The members that have a file, as units to plan.
std::vector<experiment_unit> units_of(const experiment_spec& spec, experiment_files& files,
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

void report(const experiment_spec& spec, const std::vector<experiment_unit>& units,
            telling_once& tell) {
  std::set<const pipeline_file*> done;
  for (const experiment_unit& first : units) {
    if (!done.insert(first.file).second) continue;
    std::vector<const experiment_unit*> of_file;
    for (const experiment_unit& unit : units) {
      if (unit.file == first.file) of_file.push_back(&unit);
    }
    report_units(spec, of_file, tell);
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

}  // namespace

void plan_together(const experiment_spec& spec, experiment_files& files, stage_registry& registry,
                   const plan_target& target, telling_once& tell, experiment_plan& result) {
  std::vector<experiment_unit> units = units_of(spec, files, tell);
  for (experiment_unit& unit : units) plan_unit(unit, registry, target);
  report(spec, units, tell);

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

}  // namespace graphline::planning
