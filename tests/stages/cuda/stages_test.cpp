// The stages of a `cuda` device as a run uses them, on the fake CUDA runtime.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <tuple>

#include "framework/base/clock.hpp"
#include "tests/device/cuda/fake/fake_cuda.hpp"
#include "tests/stages/cuda/cuda_trial.hpp"
#include "tests/stages/mixed_network.hpp"
#include "tests/stages/rows_trial.hpp"
#include "tests/stages/stage_trial.hpp"

namespace graphline::test {

namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::StartsWith;

class cuda_stages : public cuda_trial {
 protected:
  /// Two slots enqueued alternately give the results of the host.
  void expect_two_slots_as_on_host(const std::string& yaml, const shape& input, double limit) {
    const auto first = some_values(input.elements(), 1);
    const auto second = some_values(input.elements(), 2);
    stage_trial trial = on_cuda("network", yaml, {floats(input)}, 2);
    trial.set_input(0, first, 0);
    trial.set_input(0, second, 1);
    for (int round = 0; round < 3; ++round) {
      trial.enqueue(1);
      trial.enqueue(0);
    }
    const auto expected = [&](const std::vector<float>& values) {
      return on_host("network", yaml, {floats(input)}, {values});
    };
    EXPECT_LE(difference(trial.output(0), expected(first)), limit) << yaml;
    EXPECT_LE(difference(trial.output(1), expected(second)), limit) << yaml;
  }

  void SetUp() override {
    fake_cuda::reset();
    device_ = open_cuda_device(0);
  }
};

const shape small_input{2, 5, 11, 7};

TEST_F(cuda_stages, compute_a_network_as_the_host_does_with_two_slots_at_once) {
  expect_two_slots_as_on_host(mixed_network, small_input, 1e-5);
}

TEST_F(cuda_stages, share_the_constants_of_buckets_and_ignore_padding) {
  const auto expect_rows = [&](const char* kind, const std::string& yaml,
                               const std::vector<tensor_type>& inputs) {
    return expect_first_rows(device_, kind_of(kind), yaml, inputs, {1, 2, 5}, 1e-5);
  };
  for (const char* const precision : {"", "precision: tf32"}) {
    const auto added =
        expect_rows("network", precision + std::string(mixed_network), {floats({5, 5, 11, 7})});
    EXPECT_GT(added[0], 0U);
    EXPECT_THAT(added, ElementsAre(added[0], 0, 0));
  }
  expect_rows("matmul", "{}", {floats({5, 6, 7}), floats({7, 9})});
  expect_rows("matmul", "{method: fused}", {floats({5, 300}), floats({300, 1})});
  expect_rows("copy", "{}", {floats({5, 3})});
  expect_rows("arg_max", "{}", {floats({5, 3, 40})});
  const std::vector<tensor_type> pictures{{{5, 12, 20, 3}, dtype::uint8}, {{5, 2}, dtype::int64}};
  expect_rows("resize", "{size: [8, 30]}", pictures);
  expect_rows("normalize", "{}", pictures);
}

TEST_F(cuda_stages, compute_a_network_from_a_graph) {
  expect_as_on_host("network", mixed_network, {floats(small_input)}, 1e-5, "");
}

const char* const block_and_projection = R"(
layers:
  - conv2d: {out_channels: 24, kernel: 2, stride: 2, name: patches}
  - conv2d: {out_channels: 24, kernel: 3, padding: 1, name: mixed}
  - conv2d: {out_channels: 24, kernel: 1, reads: patches}
  - batch_norm2d
  - add: {from: mixed}
  - relu6
  - flatten: {start_dim: 2, name: tokens}
  - layer_norm
  - linear: {out_features: 72}
  - scaled_dot_product_attention: {heads: 3}
  - linear: {out_features: 20}
  - add: {from: tokens}
)";

TEST_F(cuda_stages, compute_attention_and_a_projection_as_the_host_does_with_two_slots_at_once) {
  for (const auto& [text, tolerance] :
       {std::pair{"float32", 1e-5}, std::pair{"float16", 6e-3}, std::pair{"bfloat16", 4e-2}}) {
    expect_two_slots_as_on_host(std::string("precision: ") + text + block_and_projection,
                                {4, 3, 8, 10}, tolerance);
  }
}

TEST_F(cuda_stages, compute_published_onnx_models_as_the_host_does) {
  const std::string models = std::string(GRAPHLINE_SOURCE_DIR) + "/build/models/";
  const std::pair<const char*, shape> published[] = {{"ppocr_v4/orient", {1, 3, 48, 64}},
                                                     {"ppocr_v4/recognize", {1, 3, 48, 64}},
                                                     {"ppocr_v4/detect", {1, 3, 64, 64}},
                                                     {"nudenet/detect", {1, 3, 320, 320}}};
  for (const auto& [name, input] : published) {
    const std::string model = models + name + ".onnx";
    if (!std::filesystem::exists(model)) GTEST_SKIP() << "tools/setup/models brings " << model;
    const std::string yaml = "{model: '" + model + "'}";
    const std::vector<std::vector<float>> given = some_inputs({floats(input)});
    const auto expected = on_host("onnx", yaml, {floats(input)}, given);
    EXPECT_LE(difference(on_cuda("onnx", yaml, {floats(input)}).run(given), expected), 2e-4)
        << name;
  }
}

TEST_F(cuda_stages, read_and_write_several_tensors) {
  const std::string yaml = R"(
inputs: [x, y]
outputs: [half, sum]
layers:
  - conv2d: {out_channels: 6, kernel: 1, reads: y}
  - add: {from: x, name: sum}
  - max_pool2d: {kernel: 2, name: half}
)";
  const std::vector<tensor_type> types{floats({1, 6, 4, 4}), floats({1, 3, 4, 4})};
  stage_trial trial = on_cuda("network", yaml, types);
  stage_trial host(kind_of("network"), yaml, types);
  trial.run(some_inputs(types));
  host.run(some_inputs(types));
  for (const std::size_t output : {0U, 1U}) {
    EXPECT_LE(difference(trial.output(0, output), host.output(0, output)), 1e-5) << output;
  }
}

TEST_F(cuda_stages, compute_an_onnx_model_as_the_host_does) {
  const std::string model = std::string(GRAPHLINE_SOURCE_DIR) + "/pipelines/classify.onnx";
  for (const auto& [text, tolerance] :
       {std::pair{"float32", 1e-5}, std::pair{"float16", 6e-3}, std::pair{"bfloat16", 4e-2}}) {
    expect_as_on_host("onnx", "{model: '" + model + "', precision: " + text + "}",
                      {floats({4, 3, 64, 64})}, tolerance, text);
  }
}

TEST_F(cuda_stages, allocate_nothing_for_a_frame_and_keep_no_staging_memory) {
  const std::size_t pinned = device_->usage().pinned_bytes;
  stage_trial trial = on_cuda("network", mixed_network, {floats(small_input)});
  EXPECT_EQ(device_->usage().pinned_bytes, pinned);
  trial.set_input(0, some_values(small_input.elements()));
  const std::size_t before = fake_cuda::allocation_calls();
  trial.enqueue();
  trial.wait();
  EXPECT_EQ(fake_cuda::allocation_calls(), before);
}

TEST_F(cuda_stages, mark_each_part_of_a_network_after_its_work) {
  // In NHWC, so that the first part has a conversion and the flatten a kernel.
  stage_trial trial =
      on_cuda("network", std::string("precision: tf32") + mixed_network, {floats(small_input)});
  struct noting final : part_marker {
    void part_enqueued(stream&) override { after.push_back(enqueued_operations()); }
    std::vector<std::size_t> after;
  } marker;
  trial.set_input(0, some_values(small_input.elements()));
  const std::size_t before = enqueued_operations();
  trial.enqueue_in_parts(marker);
  trial.wait();

  std::vector<std::string> names;
  for (const stage_part& part : trial.parts()) names.push_back(part.name);
  EXPECT_THAT(names, ElementsAre("stem", "1.batch_norm2d+2.relu", "3.conv2d+4.add+5.silu",
                                 "6.adaptive_avg_pool2d", "7.flatten", "8.linear", "9.softmax"));
  for (std::size_t& count : marker.after) count -= before;
  EXPECT_THAT(marker.after, ElementsAre(2, 3, 4, 5, 6, 7, 8));
}

TEST_F(cuda_stages, read_write_and_copy_a_tensor_as_the_host_does) {
  const std::vector<tensor_type> types{floats({20'011})};
  for (const char* const method : {"read", "write", "copy"}) {
    const std::string yaml = std::string("{method: ") + method + "}";
    expect_as_on_host("traffic", yaml, types, 1e-4, method);
    stage_trial trial = on_cuda("traffic", yaml, types);
    EXPECT_EQ(trial.operations().size(), 1U) << method;
    EXPECT_THAT(trial.parts(), ElementsAre(Field(&stage_part::name, method)));
  }
}

TEST_F(cuda_stages, find_the_greatest_class_as_the_host_does) {
  const std::vector<tensor_type> types{floats({3, 7, 700})};
  stage_trial trial = on_cuda("arg_max", "{}", types);
  stage_trial host(kind_of("arg_max"), "{}", types);
  const auto given = some_inputs(types);
  EXPECT_EQ(std::memcmp(trial.run(given).data(), host.run(given).data(), 21 * 8), 0);
  EXPECT_EQ(trial.output(0, 1), host.output(0, 1));
  EXPECT_EQ(trial.operations().size(), 1U);
  EXPECT_THAT(trial.parts(), ElementsAre(Field(&stage_part::name, "arg_max")));
}

/// Returns the bytes of values as float32 elements, in which a trial takes and returns tensors.
template <class T>
std::vector<float> as_floats(const std::vector<T>& values) {
  std::vector<float> floats(values.size() * sizeof(T) / sizeof(float));
  std::memcpy(floats.data(), values.data(), floats.size() * sizeof(float));
  return floats;
}

TEST_F(cuda_stages, resize_and_normalize_pictures_as_the_host_does) {
  std::vector<std::uint8_t> pixels(2 * 12 * 20 * 3);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * 37);
  const std::vector<std::int64_t> sizes{12, 20, 5, 9};
  std::vector<tensor_type> types{{{2, 12, 20, 3}, dtype::uint8}};
  std::vector<std::vector<float>> given{as_floats(pixels)};
  for (const bool sized : {false, true}) {
    if (sized) {
      types.push_back({{2, 2}, dtype::int64});
      given.push_back(as_floats(sizes));
    }
    const char* const resizing = "{size: [8, 30]}";
    stage_trial resized = on_cuda("resize", resizing, types);
    const auto expected = stage_trial(kind_of("resize"), resizing, types).run(given);
    const auto found = resized.run(given);
    ASSERT_EQ(found.size(), 2U * 8 * 30 * 3 / 4);
    EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size() * sizeof(float)), 0);
    EXPECT_THAT(resized.parts(), ElementsAre(Field(&stage_part::name, "resize")));
    const char* const gray = "{channels: gray, mean: 0.4, std: 0.5}";
    EXPECT_LE(difference(on_cuda("normalize", gray, types).run(given),
                         stage_trial(kind_of("normalize"), gray, types).run(given)),
              1e-6);
    const char* const normalizing = "{channels: bgr}";
    const auto planes = stage_trial(kind_of("normalize"), normalizing, types).run(given);
    EXPECT_LE(difference(on_cuda("normalize", normalizing, types).run(given), planes), 1e-6);
    stage_trial last(device_, kind_of("normalize"),
                     read_arguments(kind_of("normalize"), normalizing), types, 1,
                     {tensor_layout::channels_last});
    const auto interleaved = last.run(given);
    std::vector<float> back(planes.size());
    for (std::size_t i = 0; i < back.size(); ++i) {
      const std::size_t picture = i / 720;
      back[i] = interleaved.at(720 * picture + i % 240 * 3 + i / 240 % 3);
    }
    EXPECT_LE(difference(back, planes), 1e-6);
  }
}

TEST_F(cuda_stages, spin_in_one_kernel_that_a_graph_captures) {
  stage_trial trial = on_cuda("device.spin", "{duration: 1ms}", {});
  EXPECT_THAT(trial.parts(), ElementsAre(Field(&stage_part::name, "spin")));
  EXPECT_EQ(trial.operations().size(), 1U);
  const nanoseconds begin = now();
  trial.enqueue();
  trial.wait();
  EXPECT_GE(now() - begin, 1'000'000);
}

const std::vector<tensor_type> interleaved{floats({12, 20, 8, 1, 16}), floats({12, 1, 8, 16, 1})};

TEST_F(cuda_stages, multiply_matrices_with_vectors_in_a_call_per_interleaved_one) {
  for (const auto& [text, tolerance] :
       {std::pair{"float32", 1e-5}, std::pair{"float16", 3e-3}, std::pair{"bfloat16", 2e-2}}) {
    const std::string yaml = std::string("{precision: ") + text + "}";
    expect_as_on_host("matmul", yaml, interleaved, tolerance, text);
    EXPECT_THAT(on_cuda("matmul", yaml, interleaved).parts(),
                ElementsAre(Field(&stage_part::choice, HasSubstr("8 calls of reference loops"))));
  }
  // The operands and the product are converted.
  EXPECT_EQ(on_cuda("matmul", "{precision: bfloat16}", interleaved).operations().size(), 8U + 3U);
}

TEST_F(cuda_stages, multiply_rows_with_vectors_by_the_library_or_by_one_kernel) {
  for (const auto& [method, part, choice, operations] :
       {std::tuple{"library", "matmul", "8 calls of reference loops", 8U},
        std::tuple{"fused", "gemv", "a kernel of its own", 1U}}) {
    const std::string yaml = std::string("{method: ") + method + "}";
    expect_as_on_host("matmul", yaml, interleaved, 1e-5, method);
    stage_trial trial = on_cuda("matmul", yaml, interleaved);
    EXPECT_EQ(trial.operations().size(), operations) << method;
    ASSERT_THAT(trial.parts(), ElementsAre(Field(&stage_part::choice, StartsWith(choice))));
    EXPECT_EQ(trial.parts().front().name, part);
    EXPECT_TRUE(trial.parts().front().cost);
  }
}

TEST_F(cuda_stages, cut_few_long_rows_into_pieces) {
  const std::vector<tensor_type> types{floats({2, 3000}), floats({3000, 1})};
  expect_as_on_host("matmul", "{method: fused}", types, 1e-5, "");
  EXPECT_THAT(on_cuda("matmul", "{method: fused}", types).parts(),
              ElementsAre(Field(&stage_part::choice, "a kernel of its own, rows in 5 pieces")));
}

TEST_F(cuda_stages, name_the_stage_and_the_layer_whose_launch_fails) {
  const auto failure = [](stage_trial trial, int launch) -> std::string {
    trial.wait();
    fake_cuda::fail_call("cudaLaunchKernel", launch, cudaErrorInvalidConfiguration);
    try {
      trial.enqueue();
    } catch (const std::exception& e) {
      return e.what();
    }
    return "nothing was thrown";
  };
  EXPECT_THAT(failure(on_cuda("matmul", "{method: fused}", {floats({3, 4}), floats({4, 1})}), 1),
              HasSubstr("for stage 'trial' failed: "));
  EXPECT_THAT(
      failure(on_cuda("network", "layers: [relu, softmax: {name: shares}]", {floats({3, 4})}), 2),
      HasSubstr("for stage 'trial', layer 'shares' failed: "));
}

}  // namespace

}  // namespace graphline::test
