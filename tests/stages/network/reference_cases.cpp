#include "tests/stages/network/reference_cases.hpp"

#include <filesystem>

#include "framework/spec/yaml_reader.hpp"
#include "tests/stages/network/stage_trial.hpp"

namespace graphline::test {

std::vector<reference_case> reference_cases() {
  return cases_in(reference_file("cases.yaml"));
}

std::vector<reference_case> cases_in(const std::string& path) {
  std::vector<reference_case> references;
  const node listing = parse(read_source(path)->text());
  for (const node& item : listing.items()) {
    references.push_back(
        {item.find("name")->text(), shape_of(*item.find("shape")), *item.find("layers")});
  }
  return references;
}

shape shape_of(const node& written) {
  std::vector<std::int64_t> extents;
  for (const node& extent : written.items()) extents.push_back(std::stoll(extent.text()));
  return shape(extents);
}

arguments arguments_of(const reference_case& wanted) {
  arguments values;
  values.set("layers", wanted.layers, wanted.layers.where());
  const std::string weights = reference_file("weights/" + wanted.name + ".safetensors");
  if (std::filesystem::exists(weights)) values.set("weights", weights, {});
  return values;
}

}  // namespace graphline::test
