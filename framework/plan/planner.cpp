#include "framework/plan/planner.hpp"

#include "framework/plan/draft.hpp"

namespace graphline {

plan make_plan(const pipeline_spec& spec, const stage_registry& registry, const plan_target& target,
               diagnostics& out) {
  settings_places places = spec.run_places;
  if (!places.section) places.section = spec.name.place;
  check_settings(spec.run, places, out);

  planning::draft d{spec, registry, target, out};
  planning::resolve_kinds(d);
  planning::declare_tensors(d);
  planning::resolve_links(d);
  planning::put_in_order(d);
  planning::choose_sides(d);
  planning::infer_shapes(d);

  plan p;
  if (!out.has_errors()) {
    p = planning::assemble(d);
  }
  p.pipeline = spec.name.text;
  p.description = spec.description;
  p.source = spec.source;
  p.parameters = spec.parameters;
  p.run = spec.run;
  if (out.has_errors()) return p;

  planning::assign_streams(p);
  if (p.run.graphs == graph_mode::frame) planning::assign_call_streams(p);
  planning::settle_edges(p);
  planning::choose_forms(p, target.backend);
  planning::check_memory(d, p);
  return p;
}

}  // namespace graphline
