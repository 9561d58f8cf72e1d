#include <fmt/format.h>

#include <algorithm>

#include "framework/plan/draft.hpp"
#include "framework/spec/parameter_reference.hpp"

namespace graphline::planning {
namespace {

void type_inputs(draft& d) {
  for (draft_tensor& tensor : d.tensors) {
    if (tensor.input == nullptr || !tensor.input->typed) continue;
    const tensor_type& type = tensor.input->type;
    if (check_size(d, tensor, type)) tensor.type = type;
  }
}

/// The types a stage reads, if all are known.
std::optional<std::vector<tensor_type>> types_read(const draft& d, const draft_stage& stage) {
  std::vector<tensor_type> types;
  for (const std::size_t t : stage.reads) {
    if (t == none || !d.tensors[t].type) return std::nullopt;
    types.push_back(*d.tensors[t].type);
  }
  return types;
}

void infer_stage(draft& d, draft_stage& stage, const std::vector<tensor_type>& inputs) {
  diagnostics found;
  stage.shape = stage.kind->infer(stage.arguments, inputs, found);
  // What an unknown parameter would have made of the types is not known.
  if (!forward(found, d.out) || holds_unresolved(stage.spec->parameters)) {
    stage.sound = false;
    return;
  }
  const std::vector<tensor_type>& types = stage.shape.outputs;
  if (types.size() != stage.writes.size()) {
    d.error(stage, stage.spec->kind.place,
            fmt::format("kind '{}' worked out {} output types for {} outputs, which is a fault of "
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

void infer_shapes(draft& d) {
  type_inputs(d);
  for (const std::size_t s : d.order) {
    draft_stage& stage = d.stages[s];
    if (!stage.sound) continue;
    if (const auto inputs = types_read(d, stage)) infer_stage(d, stage, *inputs);
  }
}

}  // namespace graphline::planning
