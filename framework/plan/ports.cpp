#include <fmt/format.h>

#include <algorithm>

#include "framework/plan/draft.hpp"
#include "framework/spec/node_reading.hpp"

namespace graphline::planning {
namespace {

std::string list_ports(const std::vector<port>& ports) {
  if (ports.empty()) return "nothing";
  std::string list;
  for (const port& p : ports) list += (list.empty() ? "" : ", ") + p.name;
  return list;
}

std::string tensors(std::size_t count) {
  return fmt::format("{} tensor{}", count, count == 1 ? "" : "s");
}

/// Returns the ports that a stage's kind states or derives from the arguments; empty if unknown.
std::optional<stage_ports> find_ports(draft& d, draft_stage& stage) {
  if (stage.kind == nullptr) return std::nullopt;
  if (!stage.kind->open) return stage_ports{stage.kind->inputs, stage.kind->outputs};
  if (!stage.sound) return std::nullopt;
  const auto opened = d.prepared.open(*stage.kind, stage.spec->name.text, stage.arguments, d.out);
  if (opened != nullptr) return opened->ports;
  stage.sound = false;
  return std::nullopt;
}

/// Puts each of `names` at the index of its port in `ports`. `to` has one element per port.
void place_by_port(draft& d, draft_stage& stage, const std::vector<named>& names,
                   const std::vector<named>& by_port, const std::vector<port>& ports,
                   std::string_view what, std::vector<named>& to) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const named& wanted = by_port[i];
    const auto at = std::ranges::find(ports, wanted.text, &port::name);
    if (at != ports.end()) {
      to[static_cast<std::size_t>(at - ports.begin())] = names[i];
      continue;
    }
    std::vector<std::string> known;
    for (const port& p : ports) known.push_back(p.name);
    d.error(stage, wanted.place,
            fmt::format("stage '{}' has no {} '{}'{}", stage.spec->name.text, what, wanted.text,
                        suggestion(wanted.text, known, known.size())));
  }
}

/// Returns a hint on how to add ports if a parameter of the kind names them; else "".
std::string name_more(const stage_kind& kind, std::string_view key) {
  if (!kind.open || find_parameter(kind.parameters, key) == nullptr) return "";
  return fmt::format("; '{}' names several, as in '{}: [a, b]'", key, key);
}

/// Reports that a stage reads the wrong number of tensors.
void check_read_count(draft& d, draft_stage& stage) {
  const stage_kind& kind = *stage.kind;
  const std::vector<port>& inputs = stage.ports->inputs;
  const std::size_t count = stage.read_names.size();
  const std::size_t most = inputs.size();
  const std::size_t least = most - std::min(kind.optional_inputs, most);
  if (count >= least && (count <= most || kind.repeat_last_input)) return;
  const std::string wanted = kind.repeat_last_input ? fmt::format("at least {}", least)
                             : least == most        ? fmt::format("{}", most)
                                                    : fmt::format("{} to {}", least, most);
  d.error(stage, count > most ? stage.read_names[most].place : stage.spec->name.place,
          fmt::format("stage '{}' reads {}, but kind '{}' reads {}: {}{}", stage.spec->name.text,
                      tensors(count), kind.name, wanted, list_ports(inputs),
                      kind.repeat_last_input ? ", ..."
                      : count > most         ? name_more(kind, "inputs")
                                             : ""));
}

void name_reads(draft& d, draft_stage& stage) {
  const stage_spec& spec = *stage.spec;
  if (spec.read_ports.empty() || !stage.ports) {
    stage.read_names = spec.reads;
    if (stage.ports) check_read_count(d, stage);
    return;
  }
  const std::vector<port>& inputs = stage.ports->inputs;
  std::vector<named>& names = stage.read_names;
  names.resize(inputs.size());
  place_by_port(d, stage, spec.reads, spec.read_ports, inputs, "input", names);
  if (!stage.sound) {
    names = spec.reads;
    return;
  }
  const auto unnamed = [](const named& n) { return n.text.empty(); };
  // Optional inputs may be omitted only after the last given input.
  while (!names.empty() && names.size() + stage.kind->optional_inputs > inputs.size() &&
         unnamed(names.back())) {
    names.pop_back();
  }
  const auto gap = std::ranges::find_if(names, unnamed);
  if (gap == names.end()) return;
  d.error(stage, spec.name.place,
          fmt::format("stage '{}' reads nothing as '{}'; kind '{}' reads: {}", spec.name.text,
                      inputs[static_cast<std::size_t>(gap - names.begin())].name, stage.kind->name,
                      list_ports(inputs)));
  names = spec.reads;
}

/// Returns the default output names: the stage's name for a single output, else STAGE.PORT for
/// each.
std::vector<named> default_names(const draft_stage& stage) {
  const named& name = stage.spec->name;
  const std::vector<port>& outputs = stage.ports->outputs;
  if (outputs.size() == 1) return {name};
  std::vector<named> names;
  for (const port& p : outputs) names.push_back({name.text + "." + p.name, name.place});
  return names;
}

void name_writes(draft& d, draft_stage& stage) {
  const stage_spec& spec = *stage.spec;
  stage.write_names = spec.writes;
  if (!stage.ports || spec.name.text.empty()) return;
  const std::vector<port>& outputs = stage.ports->outputs;
  std::vector<named>& names = stage.write_names;
  if (spec.writes.empty() || !spec.write_ports.empty()) {
    names = default_names(stage);
    place_by_port(d, stage, spec.writes, spec.write_ports, outputs, "output", names);
    for (std::size_t i = 0; outputs.size() > 1 && i < outputs.size(); ++i) {
      const std::string& output = outputs[i].name;
      if (is_name(output) || names[i].text != spec.name.text + "." + output) continue;
      d.error(stage, spec.name.place,
              fmt::format("stage '{}' must name its output '{}': writes: {{{}: NAME}}",
                          spec.name.text, output, output));
    }
  } else if (names.size() != outputs.size()) {
    d.error(
        stage, names.size() > outputs.size() ? names[outputs.size()].place : spec.name.place,
        fmt::format("stage '{}' names {} to write, but kind '{}' writes {}: {}{}", spec.name.text,
                    tensors(names.size()), stage.kind->name, outputs.size(), list_ports(outputs),
                    names.size() > outputs.size()
                        ? name_more(*stage.kind, "outputs")
                        : fmt::format("; 'writes: {{{}: NAME}}' names some", outputs[0].name)));
  }
}

}  // namespace

void resolve_ports(draft& d) {
  for (draft_stage& stage : d.stages) {
    stage.ports = find_ports(d, stage);
    name_reads(d, stage);
    name_writes(d, stage);
  }
}

}  // namespace graphline::planning
