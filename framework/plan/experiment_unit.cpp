#include "framework/plan/experiment_unit.hpp"

#include <algorithm>

#include "framework/spec/pipeline_reader.hpp"
#include "framework/spec/settings_reader.hpp"
#include "framework/stage/plugin_loader.hpp"

namespace graphline::planning {
namespace {

/// The values that hold: a mistake in one that another takes the place of is none.
std::vector<node::member> last_of_each(const std::vector<const assignment*>& list) {
  std::vector<node::member> values;
  for (const assignment* a : list) {
    std::erase_if(values, [&](const node::member& m) { return m.key.text == a->key.text; });
    values.push_back({a->key, a->value});
  }
  return values;
}

}  // namespace

void plan_unit(experiment_unit& unit, stage_registry& registry, const plan_target& target) {
  reading_options reading;
  reading.backend = target.backend;
  reading.values = last_of_each(unit.parameters);
  pipeline_spec spec = read_pipeline(unit.file->source, reading, unit.found);
  for (const auto& [key, value] : last_of_each(unit.settings)) {
    read_setting(spec.run, spec.run_places, key.text, value, unit.found);
  }
  if (unit.without_priorities) spec.run.priorities = false;
  if (unit.priority) {
    for (stage_spec& stage : spec.stages) stage.priority = *unit.priority;
  }
  place& section = spec.run_places.section;
  if (unit.run_place) section = *unit.run_place;
  if (!section) section = spec.name.place;
  unit.shown_run = section;
  // Without a plug-in its kinds are unknown, which is no mistake of the file's.
  if (!load_plugins(spec, registry, unit.found)) return;
  unit.planned = make_plan(spec, registry, target, unit.found);
}

std::optional<place> run_place_of(const std::vector<assignment>& run) {
  const auto last = std::find_if(run.rbegin(), run.rend(), [](const assignment& a) {
    return a.key.text != "frames" && a.key.text != "warmup";
  });
  return last == run.rend() ? std::nullopt : std::optional(last->key.place);
}

}  // namespace graphline::planning
