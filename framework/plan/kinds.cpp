#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "framework/plan/draft.hpp"
#include "framework/spec/node_reading.hpp"
#include "framework/spec/pipeline_reader.hpp"

namespace graphline::planning {

std::string on_line(const place& where) {
  return where.line > 0 ? fmt::format(" (line {})", where.line) : std::string();
}

bool forward(const diagnostics& found, diagnostics& out) {
  for (const diagnostic& d : found.all()) out.add(d);
  return !found.has_errors();
}

std::optional<std::string> missing_factory(const stage_kind& kind, const std::string& backend) {
  const bool device_kind = kind.moves || kind.on == side::device;
  const auto runs_on = [&](std::string_view name) {
    return std::ranges::find(kind.backends, name) != kind.backends.end();
  };
  if (backend.empty() || !device_kind || runs_on("") || runs_on(backend)) return std::nullopt;
  return fmt::format("kind '{}' cannot run on the device '{}'; it runs on: {}", kind.name, backend,
                     fmt::join(kind.backends, ", "));
}

namespace {

/// @return null after an error at the kind's place
const stage_kind* find_kind(draft& d, draft_stage& stage) {
  const named& kind = stage.spec->kind;
  if (kind.text.empty()) {
    // The reader reports a missing kind at a better place.
    stage.sound = false;
    if (!d.out.has_errors()) {
      d.out.error(stage.spec->name.place,
                  fmt::format("stage '{}' has no kind", stage.spec->name.text));
    }
    return nullptr;
  }
  const stage_kind* found = d.registry.find(kind.text);
  if (found == nullptr) {
    d.error(
        stage, kind.place,
        fmt::format("unknown kind '{}'{}", kind.text, suggestion(kind.text, d.registry.names())));
    return nullptr;
  }
  return found;
}

/// Registers the stage's name. The first of two stages with one name keeps it.
void register_name(draft& d, draft_stage& stage, std::size_t index) {
  const named& name = stage.spec->name;
  if (name.text.empty()) {
    stage.sound = false;
    if (!d.out.has_errors()) d.out.error(name.place, "a stage has no name");
    return;
  }
  const auto [at, added] = d.stage_named.try_emplace(name.text, index);
  if (added) return;
  const named& first = d.stages[at->second].spec->name;
  stage.sound = false;
  d.error(stage, name.place,
          fmt::format("there is another stage '{}'{}; stage names must differ", name.text,
                      on_line(first.place)));
}

/// Warns about arguments that have no effect on the stage's backend.
void warn_of_idle(const std::string& backend, const node& given, const std::vector<parameter>& own,
                  diagnostics& out) {
  for (const node::member& member : given.members()) {
    const parameter* p = find_parameter(own, member.key.text);
    if (p == nullptr || p->only_on.empty() || p->only_on == backend || backend.empty()) continue;
    if (member.value.in_one_line() == p->default_value) continue;
    out.warning(member.key.place,
                fmt::format("'{}' has no effect on {}, only on {}", p->name, backend, p->only_on));
  }
}

/// Reports a priority of a CPU stage, which has no stream, under a policy without priorities.
void warn_of_idle_priority(draft& d, const draft_stage& stage) {
  if (stage.kind->moves || stage.kind->on != side::cpu) return;
  if (d.target.varies_policy) return;
  if (d.policy.kind != nullptr && d.policy.kind->uses_priorities) return;
  for (const node::member& member : stage.spec->parameters.members()) {
    if (member.key.text != "priority") continue;
    d.out.warning(member.key.place,
                  fmt::format("'priority' has no effect on stage '{}', which runs on the CPU; use "
                              "strategy: overlap with policy: fixed_priority, or remove it",
                              stage.spec->name.text));
  }
}

/// Reports cores of a device stage, and cores that this process may not use.
void check_cores(draft& d, draft_stage& stage) {
  const stage_cores& cores = stage.spec->cores;
  if (cores.cpus.empty()) return;
  const std::string& name = stage.spec->name.text;
  if (stage.kind->moves || stage.kind->on == side::device) {
    return d.error(stage, cores.place,
                   fmt::format("'cores' has no effect on stage '{}', which runs on the device; "
                               "remove it, or set it on a CPU stage",
                               name));
  }
  cpu_set missing;
  std::ranges::set_difference(cores.cpus, d.target.cpus, std::back_inserter(missing));
  if (missing.empty() || d.target.cpus.empty()) return;
  d.error(stage, cores.place,
          fmt::format("stage '{}' cannot run on cores {}, because this process may use cores "
                      "{} only; choose from these, or allow more with taskset or the container's "
                      "cpuset",
                      name, in_ranges(missing), in_ranges(d.target.cpus)));
}

/// Binds the arguments. Also accepts, and suggests, the keys that every stage has.
arguments bind_stage(const draft& d, const draft_stage& stage, diagnostics& out) {
  const stage_spec& spec = *stage.spec;
  const std::vector<parameter>& own = stage.kind->parameters;
  const std::string owner = fmt::format("stage '{}' ({})", spec.name.text, spec.kind.text);
  std::vector<std::string> known = names_of(own);
  for (const parameter& p : stage_keys()) known.push_back(p.name);
  check_keys(spec.parameters, owner, known, out);
  std::vector<node::member> members = spec.parameters.members();
  std::erase_if(members,
                [&](const node::member& m) { return find_parameter(own, m.key.text) == nullptr; });
  warn_of_idle(d.devices[stage.device].backend, spec.parameters, own, out);
  return bind_arguments(own, node::mapping(std::move(members)), owner, spec.name.place,
                        d.spec.directory, out);
}

}  // namespace

void resolve_kinds(draft& d) {
  d.stages.resize(d.spec.stages.size());
  for (std::size_t i = 0; i < d.stages.size(); ++i) {
    draft_stage& stage = d.stages[i];
    stage.spec = &d.spec.stages[i];
    register_name(d, stage, i);
    stage.kind = find_kind(d, stage);
    if (stage.kind == nullptr) continue;
    choose_device(d, stage);
    warn_of_idle_priority(d, stage);
    check_cores(d, stage);
    diagnostics found;
    stage.arguments = bind_stage(d, stage, found);
    // Values that refer to an unknown parameter are reported already.
    const auto bound = [&](const node::member& m) {
      return m.key.text == "priority" || stage.arguments.has(m.key.text);
    };
    if (!forward(found, d.out) || !std::ranges::all_of(stage.spec->parameters.members(), bound)) {
      stage.sound = false;
    }
  }
  if (d.stages.empty() && !d.out.has_errors()) {
    d.out.error(d.spec.name.place, fmt::format("pipeline '{}' has no stages", d.spec.name.text));
  }
}

}  // namespace graphline::planning
