#include <algorithm>

#include "framework/plan/draft.hpp"

namespace graphline::planning {
namespace {

std::vector<device_form> forms_of(const plan& p, const std::string& backend) {
  std::vector<device_form> forms;
  for (const planned_stage& stage : p.stages) {
    const auto& form = stage.kind->form;
    forms.push_back(form ? form(stage.config.arguments, backend) : device_form{});
  }
  return forms;
}

void choose_form(planned_tensor& tensor, const std::vector<device_form>& forms) {
  const device_form& made = forms[tensor.producer];
  const auto all_readers = [&](auto take) {
    return std::ranges::all_of(tensor.consumers, [&](std::size_t s) { return take(forms[s]); });
  };
  const bool images = tensor.type.shape.rank() == 4;
  if (images && made.channels_last && all_readers([](auto& form) { return form.channels_last; })) {
    tensor.layout = tensor_layout::channels_last;
  }
  const bool alike = all_readers([&](auto& form) { return form.element == made.element; });
  if (alike && tensor.type.element == dtype::float32) tensor.type.element = made.element;
}

}  // namespace

void choose_forms(plan& p, const std::string& backend) {
  const std::vector<device_form> forms = forms_of(p, backend);
  for (planned_tensor& tensor : p.tensors) {
    if (tensor.on == side::device && !tensor.input && !tensor.output()) choose_form(tensor, forms);
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
