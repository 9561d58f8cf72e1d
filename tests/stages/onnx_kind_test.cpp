#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "framework/device/host/host_device.hpp"
#include "stages/kinds.hpp"
#include "tests/stages/stage_trial.hpp"

namespace graphline::test {
namespace {

using testing::HasSubstr;

TEST(onnx_stage, reads_its_model_when_it_is_opened_and_never_again) {
  const std::string model =
      testing::TempDir() + "onnx_stage_" + std::to_string(::getpid()) + ".onnx";
  std::filesystem::copy_file(std::string(GRAPHLINE_SOURCE_DIR) + "/pipelines/classify.onnx", model,
                             std::filesystem::copy_options::overwrite_existing);
  const stage_kind kind = onnx_kind();
  const arguments values = read_arguments(kind, "{model: '" + model + "'}");
  diagnostics out;
  const opened_stage opened = kind.open(values, out);
  std::filesystem::remove(model);
  ASSERT_EQ(opened.ports.inputs.size(), 1U);
  EXPECT_EQ(opened.ports.inputs[0].name, "image");

  const auto device = open_host_device(1);
  for (const std::int64_t batch : {1, 2}) {
    const std::vector<tensor_type> inputs{floats({batch, 3, 64, 64})};
    const prepared_stage stage = opened.prepare(values, inputs, out);
    ASSERT_FALSE(out.has_errors()) << out.render();
    ASSERT_EQ(stage.outputs.size(), opened.ports.outputs.size());
    EXPECT_EQ(stage.outputs[0].shape[0], batch);
    const stage_config config{
        .name = "trial", .arguments = values, .inputs = inputs, .outputs = stage.outputs};
    EXPECT_EQ(stage.make_device.at("host")(*device, config)->parts().empty(), false);
    std::size_t parameters = 0;
    for (const named_tensor& weight : stage.weights(config)) {
      EXPECT_EQ(weight.data.size(), weight.type.bytes()) << weight.name;
      parameters += static_cast<std::size_t>(weight.type.shape.elements());
    }
    EXPECT_EQ(static_cast<std::int64_t>(parameters), stage.cost.parameters);
  }
  kind.open(values, out);
  ASSERT_TRUE(out.has_errors());
  EXPECT_THAT(out.all()[0].message, HasSubstr("does not exist"));
}

TEST(onnx_stage, writes_the_number_of_rows_that_depend_on_the_data) {
  const stage_kind kind = onnx_kind();
  const arguments values = read_arguments(
      kind, "{model: /usr/share/libonnx-testdata/data/node/test_nonzero_example/model.onnx}");
  diagnostics out;
  const opened_stage opened = kind.open(values, out);
  ASSERT_FALSE(out.has_errors()) << out.render();
  ASSERT_EQ(opened.ports.outputs.size(), 2U);
  EXPECT_EQ(opened.ports.outputs[1].name, opened.ports.outputs[0].name + ".count");
  const prepared_stage stage =
      opened.prepare(values, std::vector<tensor_type>{{{2, 2}, dtype::uint8}}, out);
  ASSERT_FALSE(out.has_errors()) << out.render();
  ASSERT_EQ(stage.outputs.size(), 2U);
  EXPECT_EQ(to_string(stage.outputs[0]), "int64 [2, 4]");
  EXPECT_EQ(to_string(stage.outputs[1]), "int64 [1]");
}

}  // namespace
}  // namespace graphline::test
