#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "framework/base/error.hpp"
#include "framework/device/host/host_device.hpp"
#include "stages/kinds.hpp"
#include "tests/stages/stage_trial.hpp"

namespace graphline::test {
namespace {

using testing::HasSubstr;

/// Of the kind with a copy of the model of pipelines/classify_onnx.yaml.
class onnx_stage : public testing::Test {
 protected:
  onnx_stage() {
    std::filesystem::copy_file(std::string(GRAPHLINE_SOURCE_DIR) + "/pipelines/classify.onnx",
                               model_, std::filesystem::copy_options::overwrite_existing);
  }
  ~onnx_stage() override { std::filesystem::remove(model_); }

  stage_config planned() const {
    const arguments values = read_arguments(kind_, "{model: '" + model_ + "'}");
    diagnostics out;
    const stage_shape shape = kind_.infer(values, inputs_, out);
    out.throw_if_errors();
    return {.name = "trial", .arguments = values, .inputs = inputs_, .outputs = shape.outputs};
  }

  std::string trouble(const stage_config& config) const {
    const auto device = open_host_device(1);
    try {
      kind_.make_device.at("host")(*device, config);
    } catch (const input_error& e) {
      return e.what();
    }
    return "made";
  }

  const std::string model_ =
      testing::TempDir() + "onnx_stage_" + std::to_string(::getpid()) + ".onnx";
  const stage_kind kind_ = onnx_kind();
  const std::vector<tensor_type> inputs_ = {{{2, 3, 64, 64}, dtype::float32}};
};

TEST_F(onnx_stage, reads_the_model_of_a_plan_once) {
  const arguments values = read_arguments(kind_, "{model: '" + model_ + "'}");
  diagnostics out;
  const stage_ports ports = kind_.ports(values, out);
  ASSERT_EQ(ports.inputs.size(), 1U);
  EXPECT_EQ(ports.inputs[0].name, "image");
  std::filesystem::remove(model_);
  EXPECT_EQ(kind_.infer(values, inputs_, out).outputs.size(), ports.outputs.size());
  EXPECT_FALSE(out.has_errors());
  kind_.infer(values, inputs_, out);
  ASSERT_TRUE(out.has_errors());
  EXPECT_THAT(out.all()[0].message, HasSubstr("does not exist"));
}

TEST_F(onnx_stage, refuses_a_model_that_was_changed_after_planning) {
  const stage_config config = planned();
  EXPECT_EQ(trouble(config), "made");
  const auto changed = HasSubstr("was changed after the pipeline was planned; run it again");
  stage_config more = config;
  more.inputs.push_back(inputs_[0]);
  EXPECT_THAT(trouble(more), changed);
  stage_config other = config;
  other.outputs[0].shape = {2, 5};
  EXPECT_THAT(trouble(other), changed);
  EXPECT_THROW(kind_.weights(other), input_error);
}

TEST_F(onnx_stage, takes_tensors_of_16_bits_between_networks_for_those_that_were_planned) {
  for (const dtype element : {dtype::float16, dtype::bfloat16}) {
    stage_config config = planned();
    config.inputs[0].element = element;
    config.outputs[0].element = element;
    EXPECT_EQ(trouble(config), "made");
  }
}

}  // namespace
}  // namespace graphline::test
