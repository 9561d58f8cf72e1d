#include <fmt/format.h>

#include <algorithm>

#include "framework/plan/draft.hpp"
#include "framework/spec/node_reading.hpp"

namespace graphline::planning {
namespace {

/// Adds a tensor.
/// @return its index; none after an error at its place if the name is taken
std::size_t add_tensor(draft& d, draft_tensor tensor, std::string_view writer) {
  const std::string who = tensor.input != nullptr ? fmt::format("input '{}'", tensor.name)
                                                  : fmt::format("stage '{}'", writer);
  const auto [at, added] = d.tensor_named.try_emplace(tensor.name, d.tensors.size());
  if (added) {
    d.tensors.push_back(std::move(tensor));
    return at->second;
  }
  const draft_tensor& first = d.tensors[at->second];
  const std::string by = first.input != nullptr
                             ? "an input of the pipeline"
                             : fmt::format("stage '{}'", d.stages[first.producer].spec->name.text);
  d.out.error(tensor.where, fmt::format("{}: the name '{}' is taken by {}{}", who, tensor.name, by,
                                        on_line(first.where)));
  return none;
}

void declare_writes(draft& d, std::size_t index) {
  draft_stage& stage = d.stages[index];
  const std::string& name = stage.spec->name.text;
  // The name belongs to an earlier stage, which is an error already reported. Omits the default
  // outputs.
  const auto first = d.stage_named.find(name);
  if (stage.spec->writes.empty() && (first == d.stage_named.end() || first->second != index)) {
    return;
  }
  for (const named& n : stage.write_names) {
    stage.writes.push_back(
        add_tensor(d, {.name = n.text, .where = n.place, .producer = index}, name));
    if (stage.writes.back() == none) stage.sound = false;
  }
}

}  // namespace

void declare_tensors(draft& d) {
  for (const input_spec& input : d.spec.inputs) {
    add_tensor(d, {.name = input.name.text, .where = input.name.place, .input = &input}, "");
  }
  for (std::size_t i = 0; i < d.stages.size(); ++i) declare_writes(d, i);
}

namespace {

constexpr side other(side s) {
  return s == side::device ? side::cpu : side::device;
}

/// Puts an input on the side that the user chose, or else on the side of its first reader. An input
/// read by nothing but declared copies is on the CPU, where real inputs come from.
void choose_sides_of_inputs(draft& d) {
  std::vector<bool> chosen(d.tensors.size(), false);
  std::vector<bool> read(d.tensors.size(), false);
  for (std::size_t t = 0; t < d.tensors.size(); ++t) {
    if (d.tensors[t].input == nullptr) continue;
    chosen[t] = d.tensors[t].input->on.has_value();
    d.tensors[t].on = d.tensors[t].input->on.value_or(side::cpu);
  }
  for (const std::size_t s : d.order) {
    const draft_stage& stage = d.stages[s];
    if (stage.kind == nullptr || stage.kind->moves) continue;
    for (const std::size_t t : stage.reads) {
      if (t == none || d.tensors[t].input == nullptr) continue;
      if (!chosen[t]) d.tensors[t].on = stage.kind->on;
      chosen[t] = true;
      if (read[t] || stage.kind->on != side::device) continue;
      d.tensors[t].device = stage.device;  // if it is on a device
      read[t] = true;
    }
  }
}

}  // namespace

side reading_side(const draft& d, const draft_stage& stage) {
  if (!stage.kind->moves || stage.reads.empty() || stage.reads[0] == none) return stage.kind->on;
  return d.tensors[stage.reads[0]].on;
}

tensor_place place_of(const draft_tensor& tensor) {
  return {tensor.on, tensor.on == side::device ? tensor.device : 0};
}

tensor_place reading_place(const draft& d, const draft_stage& stage) {
  const side on = reading_side(d, stage);
  return {on, on == side::device ? stage.device : 0};
}

void choose_sides(draft& d) {
  choose_sides_of_inputs(d);
  for (const std::size_t s : d.order) {
    draft_stage& stage = d.stages[s];
    if (stage.kind == nullptr) continue;
    const side reads = reading_side(d, stage);
    // A copy to the CPU runs on the device of what it reads.
    const bool to_cpu = stage.kind->moves && reads == side::device;
    if (to_cpu && stage.spec->on.text.empty() && !stage.reads.empty() && stage.reads[0] != none) {
      stage.device = d.tensors[stage.reads[0]].device;
    }
    for (const std::size_t t : stage.writes) {
      if (t == none) continue;
      d.tensors[t].on = stage.kind->moves ? other(reads) : stage.kind->on;
      d.tensors[t].device = stage.device;
    }
  }
}

namespace {

void type_inputs(draft& d) {
  for (draft_tensor& tensor : d.tensors) {
    if (tensor.input == nullptr || !tensor.input->typed) continue;
    const tensor_type& type = tensor.input->type;
    if (check_size(d, tensor, type)) tensor.type = type;
  }
}

/// Returns the types of the tensors that a stage reads; empty unless all are known.
std::optional<std::vector<tensor_type>> types_read(const draft& d, const draft_stage& stage) {
  std::vector<tensor_type> types;
  for (const std::size_t t : stage.reads) {
    if (t == none || !d.tensors[t].type) return std::nullopt;
    types.push_back(*d.tensors[t].type);
  }
  return types;
}

void prepare(draft& d, draft_stage& stage, const std::vector<tensor_type>& inputs) {
  stage.prepared =
      d.prepared.prepare(*stage.kind, stage.spec->name.text, stage.arguments, inputs, d.out);
  // The types may depend on an unknown parameter.
  if (stage.prepared == nullptr || holds_unresolved(stage.spec->parameters)) {
    stage.sound = false;
    return;
  }
  const std::vector<tensor_type>& types = stage.prepared->outputs;
  if (types.size() != stage.writes.size()) {
    d.error(stage, stage.spec->kind.place,
            fmt::format("kind '{}' prepared {} output types for {} outputs, which is a fault of "
                        "the kind",
                        stage.kind->name, types.size(), stage.writes.size()));
    return;
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    draft_tensor& tensor = d.tensors[stage.writes[i]];
    if (check_size(d, tensor, types[i])) {
      tensor.type = types[i];
    } else {
      stage.sound = false;
    }
  }
}

}  // namespace

void prepare_stages(draft& d) {
  type_inputs(d);
  for (const std::size_t s : d.order) {
    draft_stage& stage = d.stages[s];
    if (!stage.sound) continue;
    if (const auto inputs = types_read(d, stage)) {
      prepare(d, stage, *inputs);
      settle_decisions(d, stage, *inputs);
    }
  }
}

namespace {

void choose_form(planned_tensor& tensor, const std::vector<device_form>& forms) {
  const device_form& made = forms[tensor.producer];
  const auto all_readers = [&](auto take) {
    return std::ranges::all_of(tensor.consumers, [&](std::size_t s) { return take(forms[s]); });
  };
  const bool images = tensor.type.shape.rank() == 4;
  if (images && made.channels_last && all_readers([](auto& form) { return form.channels_last; })) {
    tensor.layout = tensor_layout::channels_last;
  }
  if (tensor.type.element != dtype::float32) return;
  const auto element = made.element ? made.element : forms[tensor.consumers.front()].element;
  const bool alike = all_readers([&](auto& form) { return form.element == element; });
  if (alike && element) tensor.type.element = *element;
}

}  // namespace

void choose_forms(plan& p) {
  std::vector<device_form> forms;
  for (const planned_stage& stage : p.stages) {
    const auto form = stage.prepared->forms.find(p.devices[stage.device].backend);
    forms.push_back(form == stage.prepared->forms.end() ? device_form{} : form->second);
  }
  // A stage reads a tensor and its alternative in one form.
  std::vector<bool> fixed(p.tensors.size());
  for (const planned_stage& stage : p.stages) {
    for (const alternative_read& other : stage.otherwise) {
      fixed[stage.reads[other.input]] = fixed[other.tensor] = true;
    }
  }
  for (std::size_t t = 0; t < p.tensors.size(); ++t) {
    planned_tensor& tensor = p.tensors[t];
    if (fixed[t] || tensor.on != side::device || tensor.input || tensor.output()) continue;
    choose_form(tensor, forms);
  }
  for (planned_stage& stage : p.stages) {
    const auto tell = [&](const std::vector<std::size_t>& tensors, std::vector<tensor_type>& types,
                          std::vector<tensor_layout>& layouts) {
      types.clear();
      for (const std::size_t t : tensors) {
        types.push_back(p.tensors[t].type);
        layouts.push_back(p.tensors[t].layout);
      }
    };
    tell(stage.reads, stage.config.inputs, stage.config.input_layouts);
    tell(stage.writes, stage.config.outputs, stage.config.output_layouts);
  }
}

}  // namespace graphline::planning
