#include "tests/stages/network/reference_cases.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/stages/network/stage_trial.hpp"

namespace graphline::test {

std::vector<reference_case> reference_cases() {
  return cases_in(reference_file("cases.yaml"));
}

std::vector<reference_case> cases_in(const std::string& path) {
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const node listing = parse(text);
  std::vector<reference_case> references;
  for (const node& item : listing.items()) {
    std::vector<std::int64_t> extents;
    for (const node& extent : item.find("shape")->items()) {
      extents.push_back(std::stoll(extent.text()));
    }
    references.push_back({item.find("name")->text(), shape(extents), *item.find("layers")});
  }
  return references;
}

arguments arguments_of(const reference_case& wanted) {
  arguments values;
  values.set("layers", wanted.layers, wanted.layers.where());
  const std::string weights = reference_file("weights/" + wanted.name + ".safetensors");
  if (std::filesystem::exists(weights)) values.set("weights", weights, {});
  return values;
}

}  // namespace graphline::test
