// The stages of a `cuda` device as a run uses them, on the fake CUDA runtime.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "tests/device/cuda/fake/fake_cuda.hpp"
#include "tests/stages/network/cuda/cuda_trial.hpp"
#include "tests/stages/network/cuda/fake_libraries.hpp"
#include "tests/stages/network/stage_trial.hpp"

namespace graphline::test {

namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::StartsWith;

class cuda_stages : public cuda_trial {
 protected:
  void SetUp() override {
    fake_cuda::reset();
    open();
  }
};

const char* const small_network = R"(
layers:
  - conv2d: {out_channels: 12, kernel: 3, padding: 1, name: stem}
  - batch_norm2d
  - relu
  - conv2d: {out_channels: 12, kernel: 3, padding: 1}
  - add: {from: stem}
  - silu
  - adaptive_avg_pool2d: {output: 3}
  - flatten
  - linear: {out_features: 10}
  - softmax
)";
const shape small_input{2, 5, 11, 7};

TEST_F(cuda_stages, compute_a_network_as_the_host_does_with_two_slots_at_once) {
  make("network", small_network, {floats(small_input)});
  const slot a = bind();
  const slot b = bind();
  const auto first = some_values(small_input.elements(), 1);
  const auto second = some_values(small_input.elements(), 2);
  set_inputs(a, {first});
  set_inputs(b, {second});
  for (int round = 0; round < 3; ++round) {
    b.work->enqueue(*stream_);
    a.work->enqueue(*stream_);
  }
  EXPECT_LE(difference(output(a), on_host({first})), 1e-5);
  EXPECT_LE(difference(output(b), on_host({second})), 1e-5);
}

TEST_F(cuda_stages, compute_a_network_from_a_graph) {
  make("network", small_network, {floats(small_input)});
  const slot s = bind();
  const auto graph = device_->capture(*stream_, [&] { s.work->enqueue(*stream_); });
  const auto executable = graph->instantiate();
  const auto values = some_values(small_input.elements());
  set_inputs(s, {values});
  stream_->launch(*executable);
  EXPECT_LE(difference(output(s), on_host({values})), 1e-5);
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
  const shape input{4, 3, 8, 10};
  for (const auto& [text, tolerance] :
       {std::pair{"float32", 1e-5}, std::pair{"float16", 6e-3}, std::pair{"bfloat16", 4e-2}}) {
    make("network", std::string("precision: ") + text + block_and_projection, {floats(input)});
    const slot a = bind();
    const slot b = bind();
    const auto first = some_values(input.elements(), 1);
    const auto second = some_values(input.elements(), 2);
    set_inputs(a, {first});
    set_inputs(b, {second});
    b.work->enqueue(*stream_);
    a.work->enqueue(*stream_);
    EXPECT_LE(difference(output(a), on_host({first})), tolerance) << text;
    EXPECT_LE(difference(output(b), on_host({second})), tolerance) << text;
  }
}

TEST_F(cuda_stages, allocate_nothing_for_a_frame_and_keep_no_staging_memory) {
  const std::size_t pinned = device_->usage().pinned_bytes;
  make("network", small_network, {floats(small_input)});
  EXPECT_EQ(device_->usage().pinned_bytes, pinned);
  const slot s = bind();
  set_inputs(s, {some_values(small_input.elements())});
  const std::size_t before = fake_cuda::allocation_calls();
  s.work->enqueue(*stream_);
  device_->synchronize(wait_mode::block);
  EXPECT_EQ(fake_cuda::allocation_calls(), before);
}

TEST_F(cuda_stages, mark_each_part_of_a_network_after_its_work) {
  make("network", small_network, {floats(small_input)});
  struct noting final : part_marker {
    void part_enqueued(stream&) override { after.push_back(enqueued_operations()); }
    std::vector<std::size_t> after;
  } marker;
  const slot s = bind();
  set_inputs(s, {some_values(small_input.elements())});
  const std::size_t before = enqueued_operations();
  s.work->enqueue_in_parts(*stream_, marker);
  device_->synchronize(wait_mode::block);

  std::vector<std::string> names;
  for (const stage_part& part : stage_->parts()) names.push_back(part.name);
  EXPECT_THAT(names, ElementsAre("stem", "1.batch_norm2d+2.relu", "3.conv2d+4.add+5.silu",
                                 "6.adaptive_avg_pool2d", "7.flatten", "8.linear", "9.softmax"));
  for (std::size_t& count : marker.after) count -= before;
  EXPECT_THAT(marker.after, ElementsAre(2, 3, 4, 5, 6, 7, 8));
}

TEST_F(cuda_stages, read_write_and_copy_a_tensor_as_the_host_does) {
  const std::vector<std::vector<float>> values{some_values(20'011)};
  for (const char* const method : {"read", "write", "copy"}) {
    make("traffic", std::string("{method: ") + method + "}", {floats({20'011})});
    const slot s = bind();
    set_inputs(s, values);
    s.work->enqueue(*stream_);
    EXPECT_LE(difference(output(s), on_host(values)), 1e-4) << method;
    const auto graph = device_->capture(*stream_, [&] { s.work->enqueue(*stream_); });
    EXPECT_EQ(graph->nodes().size(), 1U) << method;
    EXPECT_THAT(stage_->parts(), ElementsAre(Field(&stage_part::name, method)));
  }
}

TEST_F(cuda_stages, multiply_matrices_with_vectors_in_a_call_per_interleaved_one) {
  const std::vector<tensor_type> types{floats({12, 20, 8, 1, 16}), floats({12, 1, 8, 16, 1})};
  const std::vector<std::vector<float>> values{some_values(types[0].shape.elements(), 1),
                                               some_values(types[1].shape.elements(), 2)};
  for (const auto& [text, tolerance] :
       {std::pair{"float32", 1e-5}, std::pair{"float16", 3e-3}, std::pair{"bfloat16", 2e-2}}) {
    make("matmul", std::string("{precision: ") + text + "}", types);
    const slot s = bind();
    set_inputs(s, values);
    s.work->enqueue(*stream_);
    EXPECT_LE(difference(output(s), on_host(values)), tolerance) << text;
    EXPECT_THAT(stage_->parts(),
                ElementsAre(Field(&stage_part::choice, StartsWith("8 calls of reference loops"))));
  }
  EXPECT_THAT(stage_->parts().front().choice, HasSubstr("; conversions to and from bfloat16"));
}

TEST_F(cuda_stages, multiply_turned_around_where_that_takes_one_product) {
  const std::vector<tensor_type> types{floats({1, 4, 5}), floats({7, 5, 1})};
  make("matmul", "{}", types);
  const slot s = bind();
  const std::vector<std::vector<float>> values{some_values(20, 1), some_values(35, 2)};
  set_inputs(s, values);
  const std::size_t before = enqueued_operations();
  s.work->enqueue(*stream_);
  EXPECT_LE(difference(output(s), on_host(values)), 1e-5);
  EXPECT_EQ(enqueued_operations() - before, 1U);
}

TEST_F(cuda_stages, multiply_rows_with_vectors_by_the_library_or_by_one_kernel) {
  const std::vector<tensor_type> types{floats({12, 20, 8, 1, 16}), floats({12, 1, 8, 16, 1})};
  const std::vector<std::vector<float>> values{some_values(types[0].shape.elements(), 1),
                                               some_values(types[1].shape.elements(), 2)};
  for (const auto& [method, choice, operations] :
       {std::tuple{"library", "8 calls of reference loops", 8U},
        std::tuple{"fused", "a kernel of its own", 1U}}) {
    make("gemv", std::string("{method: ") + method + "}", types);
    const slot s = bind();
    set_inputs(s, values);
    const std::size_t before = enqueued_operations();
    s.work->enqueue(*stream_);
    EXPECT_LE(difference(output(s), on_host(values)), 1e-5) << method;
    EXPECT_EQ(enqueued_operations() - before, operations) << method;
    ASSERT_THAT(stage_->parts(), ElementsAre(Field(&stage_part::choice, StartsWith(choice))));
    EXPECT_EQ(stage_->parts().front().name, "gemv");
    EXPECT_TRUE(stage_->parts().front().cost);
  }
}

TEST_F(cuda_stages, multiply_rows_with_vectors_of_every_shape) {
  expect_fused_gemv_as_on_host();
}

TEST_F(cuda_stages, cut_few_long_rows_into_pieces) {
  make("gemv", "{method: fused}", {floats({2, 3000}), floats({3000, 1})});
  EXPECT_THAT(stage_->parts(),
              ElementsAre(Field(&stage_part::choice, "a kernel of its own, rows in 5 pieces")));
  const slot s = bind();
  const std::vector<std::vector<float>> values{some_values(6000, 1), some_values(3000, 2)};
  set_inputs(s, values);
  s.work->enqueue(*stream_);
  EXPECT_LE(difference(output(s), on_host(values)), 1e-5);
}

TEST_F(cuda_stages, name_the_stage_whose_kernel_cannot_be_launched) {
  make("gemv", "{method: fused}", {floats({3, 4}), floats({4, 1})});
  const slot s = bind();
  fake_cuda::fail_call("cudaLaunchKernel", 1, cudaErrorInvalidConfiguration);
  try {
    s.work->enqueue(*stream_);
    FAIL() << "nothing was thrown";
  } catch (const std::exception& e) {
    EXPECT_THAT(e.what(), HasSubstr("for stage 'trial' failed: "));
  }
}

TEST_F(cuda_stages, name_the_layer_whose_launch_fails) {
  make("network", "layers: [relu, softmax: {name: shares}]", {floats({3, 4})});
  const slot s = bind();
  fake_cuda::fail_call("cudaLaunchKernel", 2, cudaErrorInvalidConfiguration);
  try {
    s.work->enqueue(*stream_);
    FAIL() << "nothing was thrown";
  } catch (const std::exception& e) {
    EXPECT_THAT(e.what(), HasSubstr("for stage 'trial', layer 'shares' failed: "));
  }
}

}  // namespace

}  // namespace graphline::test
