#include "tests/stages/network/reference_cases.hpp"

#include <filesystem>

#include "framework/spec/yaml_reader.hpp"
#include "tests/stages/stage_trial.hpp"

namespace graphline::test {

std::vector<reference_case> reference_cases() {
  return cases_in(reference_file("cases.yaml"));
}

std::vector<reference_case> cases_in(const std::string& path) {
  std::vector<reference_case> references;
  const node listing = parse(read_source(path)->text());
  for (const node& item : listing.items()) {
    reference_case& made = references.emplace_back();
    made.name = item.find("name")->text();
    const auto set = [&made](const char* key, node value) {
      made.values.set(key, value, value.where());
    };
    set("layers", *item.find("layers"));
    const std::string weights = reference_file("weights/" + made.name + ".safetensors");
    if (std::filesystem::exists(weights)) made.values.set("weights", weights, {});
    if (const node* only = item.find("shape")) {
      made.inputs = {"input"};
      made.outputs = {"output"};
      made.types = {floats(shape_of(*only))};
      continue;
    }
    std::vector<node> names;
    for (const node::member& input : item.find("inputs")->members()) {
      made.inputs.push_back(input.key.text);
      made.types.push_back(floats(shape_of(input.value)));
      names.emplace_back(input.key.text);
    }
    for (const node& output : item.find("outputs")->items()) made.outputs.push_back(output.text());
    set("inputs", node::sequence(std::move(names)));
    set("outputs", *item.find("outputs"));
  }
  return references;
}

shape shape_of(const node& written) {
  std::vector<std::int64_t> extents;
  for (const node& extent : written.items()) extents.push_back(std::stoll(extent.text()));
  return shape(extents);
}

}  // namespace graphline::test
