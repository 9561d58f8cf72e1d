// Stages that compute the first rows of their tensors: for each bucket, padding has no effect, and
// weights exist once.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "framework/plan/planner.hpp"
#include "framework/spec/pipeline_reader.hpp"
#include "framework/spec/yaml_reader.hpp"
#include "stages/builtin.hpp"
#include "stages/kinds.hpp"
#include "stages/nn/definition/definition.hpp"
#include "stages/nn/weights/network_weights.hpp"
#include "tests/stages/mixed_network.hpp"
#include "tests/stages/rows_trial.hpp"
#include "tests/stages/stage_trial.hpp"

namespace graphline::test {
namespace {

using testing::Each;
using testing::HasSubstr;

// For another number of rows, oneDNN may choose another implementation, which adds in another
// order.
constexpr double other_order = 1e-5;

std::vector<std::size_t> expect_rows_on_host(const stage_kind& kind, const std::string& yaml,
                                             const std::vector<tensor_type>& inputs,
                                             double limit = 0,
                                             const std::vector<std::int64_t>& buckets = {1, 2, 5}) {
  return expect_first_rows(std::shared_ptr<device>(open_host_device(1)), kind, yaml, inputs,
                           buckets, limit);
}

void expect_weights_once(const std::vector<std::size_t>& added) {
  EXPECT_GT(added.front(), 0U);
  EXPECT_THAT(std::vector(added.begin() + 1, added.end()), Each(0U));
}

/// For another number of rows, oneDNN may choose another layout for a few weights.
void expect_most_weights_once(const std::vector<std::size_t>& added) {
  EXPECT_LE(static_cast<double>(std::accumulate(added.begin(), added.end(), std::size_t{0})),
            1.15 * static_cast<double>(added.front()));
}

TEST(rows, of_a_convolutional_network_are_independent_and_share_weights) {
  expect_weights_once(
      expect_rows_on_host(network_kind(), mixed_network, {floats({5, 5, 11, 7})}, other_order));
}

TEST(rows, of_attention_are_independent_and_share_weights) {
  expect_weights_once(expect_rows_on_host(network_kind(), R"(
layers:
  - layer_norm
  - linear: {out_features: 72}
  - scaled_dot_product_attention: {heads: 3}
  - linear: {out_features: 24}
  - add: {from: input}
)",
                                          {floats({5, 9, 24})}, other_order));
}

TEST(rows, of_a_network_with_two_inputs_are_independent) {
  expect_weights_once(expect_rows_on_host(network_kind(), R"(
inputs: [a, b]
outputs: [sum, product]
layers:
  - add: {reads: a, from: b, name: sum}
  - linear: {out_features: 8, name: product}
)",
                                          {floats({5, 40}), floats({5, 40})}, other_order));
}

TEST(rows, of_an_onnx_model_are_independent_and_share_weights) {
  const std::string source = GRAPHLINE_SOURCE_DIR;
  expect_weights_once(expect_rows_on_host(onnx_kind(),
                                          "{model: '" + source + "/pipelines/classify.onnx'}",
                                          {floats({5, 3, 64, 64})}, other_order));
}

TEST(rows, of_the_models_for_text_are_independent_and_share_weights) {
  const std::string models = std::string(GRAPHLINE_SOURCE_DIR) + "/build/models/ppocr_v4/";
  if (!std::filesystem::exists(models)) GTEST_SKIP() << "tools/setup/models downloads " << models;
  for (const auto& [file, pictures] :
       {std::pair{"orient.onnx", shape{5, 3, 48, 192}}, {"recognize.onnx", {5, 3, 48, 64}}}) {
    expect_most_weights_once(expect_rows_on_host(onnx_kind(), "{model: '" + models + file + "'}",
                                                 {floats(pictures)}, other_order));
  }
}

TEST(rows, of_an_onnx_model_share_the_constants_on_the_host) {
  std::vector<const float*> constants;  // of each bucket's first layer
  const stage_kind kind = onnx_kind([&](device&, const nn::network_definition& network,
                                        const nn::weight_table& weights, const stage_config&) {
    constants.push_back(weights.of(network.layers.front(), 1).data());
    return std::unique_ptr<device_stage>();
  });
  const std::string source = GRAPHLINE_SOURCE_DIR;
  const arguments values =
      read_arguments(kind, "{model: '" + source + "/pipelines/classify.onnx'}");
  diagnostics out;
  const opened_stage opened = kind.open(values, out);
  const auto host = open_host_device(1);
  std::vector<prepared_stage> prepared;
  for (const std::int64_t bucket : {1, 2, 4}) {
    const std::vector<tensor_type> inputs{floats({bucket, 3, 64, 64})};
    prepared.push_back(opened.prepare(values, inputs, out));
    const prepared_stage& stage = prepared.back();
    const stage_config config{
        .name = "trial", .arguments = values, .inputs = inputs, .outputs = stage.outputs};
    stage.make_device.at("cuda")(*host, config);
  }
  ASSERT_NE(constants.front(), nullptr);
  EXPECT_THAT(constants, Each(constants.front()));
}

TEST(rows, are_those_of_an_onnx_model_that_leaves_the_first_extent_open) {
  const auto ports_of = [](const std::string& model) {
    const stage_kind kind = onnx_kind();
    diagnostics out;
    const std::string source = GRAPHLINE_SOURCE_DIR;
    return kind.open(read_arguments(kind, "{model: '" + source + model + "'}"), out).ports;
  };
  const stage_ports open = ports_of("/pipelines/classify.onnx");  // [batch, 3, 64, 64]
  EXPECT_TRUE(open.inputs.at(0).rows && open.outputs.at(0).rows);
  const stage_ports fixed = ports_of("/tests/stages/nn/onnx/transformers/vit/model.onnx");
  EXPECT_FALSE(fixed.inputs.at(0).rows || fixed.outputs.at(0).rows);
}

TEST(rows, of_the_networks_of_all_pipelines_are_independent) {
  const std::filesystem::path folder = GRAPHLINE_SOURCE_DIR "/pipelines";
  const stage_registry kinds = builtin_stages();
  int networks = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".yaml") continue;
    const auto source = read_source(file.path());
    diagnostics out;
    pipeline_spec spec = read_pipeline(source, {.set = {{"batch", "3"}}}, out);
    if (out.has_errors()) spec = read_pipeline(source, {}, out = {});  // has no such parameter
    const plan p = make_plan(spec, kinds, {}, out);
    if (out.has_errors()) continue;  // without the models that tools/setup/models downloads
    for (const planned_stage& stage : p.stages) {
      if (stage.kind->name != "network" && stage.kind->name != "onnx") continue;
      std::vector<tensor_type> inputs;
      for (const tensor_type& type : stage.config.inputs) inputs.push_back(first_rows(type, 3));
      const prepared_stage three = prepare(*stage.kind, stage.config.arguments, inputs, out);
      EXPECT_FALSE(out.has_errors()) << out.render();
      EXPECT_EQ(three.combined_rows, "") << file.path() << ' ' << stage.name;
      ++networks;
    }
  }
  EXPECT_GE(networks, 15);
}

TEST(rows, of_models_are_independent_unless_they_are_steps) {
  const std::string models = GRAPHLINE_SOURCE_DIR "/build/models/";
  if (!std::filesystem::exists(models)) GTEST_SKIP() << "tools/setup/models downloads " << models;
  const auto said = [&](const std::string& model, const std::vector<tensor_type>& inputs) {
    return prepare(onnx_kind(), "{model: '" + models + model + ".onnx'}", inputs).combined_rows;
  };
  EXPECT_EQ(said("ppocr_v4/detect", {floats({3, 3, 64, 96})}), "");
  EXPECT_EQ(said("ppocr_v4/orient", {floats({3, 3, 48, 192})}), "");
  EXPECT_EQ(said("ppocr_v4/recognize", {floats({3, 3, 48, 320})}), "");
  EXPECT_EQ(said("magika/classify", {{{3, 2048}, dtype::int32}}), "");
  EXPECT_EQ(said("nudenet/detect", {floats({3, 3, 320, 320})}), "");
  EXPECT_THAT(
      said("silero_vad/sequence", {floats({32, 576}), floats({1, 1, 128}), floats({1, 1, 128})}),
      HasSubstr("combines or reorders rows"));
}

TEST(rows, of_a_product_are_independent) {
  const stage_kind kind = matmul_kind();
  expect_rows_on_host(kind, "{}", {floats({5, 6, 7}), floats({7, 9})}, other_order);
  expect_rows_on_host(kind, "{transpose_a: true}", {floats({5, 7, 6}), floats({1, 7, 9})},
                      other_order);
  expect_rows_on_host(kind, "{method: fused}", {floats({5, 300}), floats({300, 1})}, other_order);
}

TEST(rows, of_moves_and_pictures_are_independent) {
  expect_rows_on_host(copy_kind(), "{}", {floats({5, 3})});
  expect_rows_on_host(arg_max_kind(), "{}", {floats({5, 3, 40})});
  const tensor_type pictures{{5, 12, 20, 3}, dtype::uint8};
  const tensor_type sizes{{5, 2}, dtype::int64};
  for (const std::vector<tensor_type>& inputs :
       {std::vector{pictures}, std::vector{pictures, sizes}}) {
    expect_rows_on_host(device_resize_kind(), "{size: [8, 30]}", inputs);
    expect_rows_on_host(device_normalize_kind(), "{}", inputs);
  }
}

}  // namespace
}  // namespace graphline::test
