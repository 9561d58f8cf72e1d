// Costs of whole networks against the counts of other programs, which the YAML file names.

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "framework/spec/yaml_reader.hpp"
#include "stages/kinds.hpp"
#include "tests/stages/network/reference_cases.hpp"
#include "tests/stages/stage_trial.hpp"

namespace graphline::test {

namespace {

struct counted_network {
  std::string name;
  shape input;
  shape output;
  cost counted;  ///< without FLOPs, which are a matter of convention
  node layers;

  friend void PrintTo(const counted_network& printed, std::ostream* to) { *to << printed.name; }
};

std::vector<counted_network> counted_networks() {
  const node listing = parse(read_source(reference_file("counted_networks.yaml"))->text());
  std::vector<counted_network> networks;
  for (const node& item : listing.items()) {
    const auto number = [&item](const char* key) { return std::stoll(item.find(key)->text()); };
    networks.push_back({.name = item.find("name")->text(),
                        .input = shape_of(*item.find("shape")),
                        .output = shape_of(*item.find("output")),
                        .counted = {.parameters = number("parameters"),
                                    .macs = number("macs"),
                                    .bytes_read = number("bytes_read"),
                                    .bytes_written = number("bytes_written")},
                        .layers = *item.find("layers")});
  }
  return networks;
}

class counted_networks_of : public testing::TestWithParam<counted_network> {};

TEST_P(counted_networks_of, agree) {
  const counted_network& wanted = GetParam();
  arguments values;
  values.set("layers", wanted.layers, wanted.layers.where());
  const std::vector<tensor_type> inputs{floats(wanted.input)};
  diagnostics out;
  const prepared_stage found = prepare(network_kind(), values, inputs, out);
  ASSERT_FALSE(out.has_errors()) << out.render();
  EXPECT_EQ(found.known, known_cost::all);
  EXPECT_EQ(found.outputs.at(0).shape, wanted.output);
  EXPECT_EQ(found.cost.parameters, wanted.counted.parameters);
  EXPECT_EQ(found.cost.macs, wanted.counted.macs);
  EXPECT_EQ(found.cost.bytes_read, wanted.counted.bytes_read);
  EXPECT_EQ(found.cost.bytes_written, wanted.counted.bytes_written);
  EXPECT_GE(found.cost.flops, 2 * wanted.counted.macs);
}

INSTANTIATE_TEST_SUITE_P(fvcore, counted_networks_of, testing::ValuesIn(counted_networks()),
                         [](const auto& given) { return given.param.name; });

TEST(counted_networks, are_at_least_ten_different_ones) {
  std::set<std::int64_t> macs;
  for (const counted_network& network : counted_networks()) macs.insert(network.counted.macs);
  EXPECT_GE(macs.size(), 10u);
}

}  // namespace

}  // namespace graphline::test
