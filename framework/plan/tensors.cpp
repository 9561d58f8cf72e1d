#include <fmt/format.h>

#include "framework/plan/draft.hpp"

namespace graphline::planning {
namespace {

bool is_kept_name(std::string_view name) {
  return name.ends_with("@cpu") || name.ends_with("@device");
}

/// Adds a tensor; none after an error at `where` if the name cannot be had.
std::size_t add_tensor(draft& d, draft_tensor tensor, std::string_view writer) {
  const std::string who = tensor.input != nullptr ? fmt::format("input '{}'", tensor.name)
                                                  : fmt::format("stage '{}'", writer);
  if (is_kept_name(tensor.name)) {
    d.out.error(tensor.where,
                fmt::format("{}: tensor names that end in '@cpu' or '@device' are kept for "
                            "inserted copies",
                            who));
    return none;
  }
  const auto [at, added] = d.tensor_named.try_emplace(tensor.name, d.tensors.size());
  if (added) {
    d.tensors.push_back(std::move(tensor));
    return at->second;
  }
  const draft_tensor& first = d.tensors[at->second];
  if (tensor.input != nullptr) {
    d.out.error(tensor.where, fmt::format("there is another {}{}; input names must differ", who,
                                          on_line(first.where)));
  } else if (first.input != nullptr) {
    d.out.error(tensor.where,
                fmt::format("{} writes '{}', which is an input of the pipeline{}; name one of "
                            "them differently",
                            who, tensor.name, on_line(first.where)));
  } else {
    const std::string& other = d.stages[first.producer].spec->name.text;
    d.out.error(tensor.where, other == writer
                                  ? fmt::format("{} writes '{}' twice", who, tensor.name)
                                  : fmt::format("{} writes '{}', which stage '{}' already writes{}",
                                                who, tensor.name, other, on_line(first.where)));
  }
  return none;
}

/// What a stage writes by `writes`, or by default: its own name for the only output, STAGE.PORT for
/// each of several.
std::vector<named> written_names(const draft_stage& stage) {
  const stage_spec& spec = *stage.spec;
  if (!spec.writes.empty() || stage.kind == nullptr) return spec.writes;
  const std::vector<port>& ports = stage.kind->outputs;
  if (ports.size() == 1) return {spec.name};
  std::vector<named> names;
  for (const port& p : ports) names.push_back({spec.name.text + "." + p.name, spec.name.place});
  return names;
}

void declare_writes(draft& d, std::size_t index) {
  draft_stage& stage = d.stages[index];
  const std::string& name = stage.spec->name.text;
  // The second of two stages with one name has been reported; its default outputs would be again.
  const auto first = d.stage_named.find(name);
  if (stage.spec->writes.empty() && (first == d.stage_named.end() || first->second != index)) {
    return;
  }
  const std::vector<named> names = written_names(stage);
  for (const named& n : names) {
    stage.writes.push_back(
        add_tensor(d, {.name = n.text, .where = n.place, .producer = index}, name));
    if (stage.writes.back() == none) stage.sound = false;
  }
  if (stage.kind != nullptr && names.size() != stage.kind->outputs.size()) {
    d.error(stage,
            names.size() > stage.kind->outputs.size() ? names[stage.kind->outputs.size()].place
                                                      : stage.spec->name.place,
            fmt::format("stage '{}' names {} tensor{} to write, but kind '{}' writes {}: {}", name,
                        names.size(), names.size() == 1 ? "" : "s", stage.kind->name,
                        stage.kind->outputs.size(), list_ports(stage.kind->outputs)));
  }
}

}  // namespace

void declare_tensors(draft& d) {
  for (const input_spec& input : d.spec.inputs) {
    add_tensor(d, {.name = input.name.text, .where = input.name.place, .input = &input}, "");
  }
  for (std::size_t i = 0; i < d.stages.size(); ++i) declare_writes(d, i);
}

}  // namespace graphline::planning
