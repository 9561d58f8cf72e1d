#include <gmock/gmock.h>

#include "framework/plan/placement.hpp"
#include "tests/plan/plan_testing.hpp"

namespace graphline::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::uint64_t mib = 1 << 20;
constexpr std::int64_t mib_of_floats = 1 << 18;

plan_target cuda_with(std::uint64_t device, std::uint64_t host) {
  return {.backend = "cuda", .device_memory_bytes = device, .host_memory_bytes = host};
}

TEST(memory_limits, refuse_one_tensor_that_cannot_fit) {
  EXPECT_THAT(errors_of(spec_builder()
                            .input("x", {4})
                            .stage("a", "gpu", {"x"})
                            .with("shape", extents({8 * mib_of_floats})),
                        cuda_with(4 * mib, 0)),
              ElementsAre("tensor 'a' is float32 [2097152] and takes 8.00 MiB, but the device has "
                          "4.00 MiB of memory; make its shape or the batch smaller"));
}

TEST(memory_limits, take_a_tensor_that_just_fits) {
  const spec_builder b =
      spec_builder().input("x", {4}).stage("a", "gpu", {"x"}).with("shape", extents({1 << 20}));
  EXPECT_THAT(errors_of(b, cuda_with(4 * mib, 0)), Each(Not(HasSubstr("tensor 'a' is"))));
  EXPECT_THAT(errors_of(b, cuda_with(4 * mib - 1, 0)), Contains(HasSubstr("tensor 'a' is")));
}

TEST(memory_limits, refuse_an_input_that_cannot_fit_on_its_side) {
  const spec_builder b = spec_builder()
                             .input("x", {8 * mib_of_floats}, side::cpu)
                             .stage("a", "work", {"x"})
                             .with("shape", extents({1}));
  EXPECT_THAT(errors_of(b, cuda_with(4 * mib, 64 * mib)), IsEmpty());
  EXPECT_THAT(errors_of(b, cuda_with(64 * mib, 4 * mib)),
              ElementsAre(HasSubstr("the host has 4.00 MiB")));
}

TEST(memory_limits, refuse_what_no_process_can_address_without_running_over) {
  constexpr std::int64_t huge = std::int64_t{1} << 31;
  EXPECT_THAT(errors_of(spec_builder()
                            .input("x", {huge, huge, huge, huge})
                            .input("y", {huge, huge})
                            .stage("a", "gpu", {"x"})
                            .stage("b", "gpu", {"y"})),
              ElementsAre(AllOf(HasSubstr("tensor 'x'"), HasSubstr("128 TiB")),
                          AllOf(HasSubstr("tensor 'y'"), HasSubstr("128 TiB"))));
}

TEST(memory_limits, refuse_an_extent_below_one) {
  EXPECT_THAT(errors_of(spec_builder().input("x", {3, 0}).stage("a", "gpu", {"x"})),
              ElementsAre("tensor 'x' is float32 [3, 0], but every extent must be at least 1"));
}

TEST(memory_limits, count_every_frame_in_flight) {
  spec_builder b;
  b.input("x", {mib_of_floats})
      .stage("a", "gpu", {"x"})
      .with("shape", extents({2 * mib_of_floats}));
  b.stage("b", "gpu", {"a"}).with("weights", 2 * mib_of_floats);
  EXPECT_THAT(errors_of(b, cuda_with(7 * mib, 0)), IsEmpty());
  b.spec.run.in_flight = 2;
  EXPECT_THAT(errors_of(b, cuda_with(11 * mib, 0)), IsEmpty());
  EXPECT_THAT(
      errors_of(b, cuda_with(10 * mib, 0)),
      ElementsAre("pipeline 'tested' needs 11.0 MiB of device memory (2 frames in flight of 4.00 "
                  "MiB each, 1.00 MiB of inputs, 2.00 MiB of weights), but the device has 10.0 "
                  "MiB; the largest part is tensor 'a' with 2.00 MiB; lower in_flight, or make "
                  "shapes or the batch smaller"));
}

TEST(memory_limits, stay_right_for_absurd_counts) {
  spec_builder b;
  b.input("x", {mib_of_floats}).stage("a", "gpu", {"x"});
  b.spec.run.in_flight = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(errors_of(b, cuda_with(64 * mib, 0)), ElementsAre(HasSubstr("device memory")));
  b.spec.run.in_flight = 1;
  b.stage("b", "gpu", {"a"}).with("weights", std::numeric_limits<std::int64_t>::max());
  EXPECT_THAT(errors_of(b, cuda_with(64 * mib, 0)),
              ElementsAre(HasSubstr("the weights of stage 'b'")));
}

TEST(memory_limits, take_both_sides_from_one_memory_on_the_host_device) {
  const spec_builder b = spec_builder()
                             .input("x", {4 * mib_of_floats})
                             .stage("a", "gpu", {"x"})
                             .stage("b", "work", {"a"});
  // x, a, a@cpu and b.
  EXPECT_THAT(errors_of(b, cuda_with(8 * mib, 8 * mib)), IsEmpty());
  EXPECT_THAT(errors_of(b, {.device_memory_bytes = 16 * mib, .host_memory_bytes = 16 * mib}),
              IsEmpty());
  EXPECT_THAT(errors_of(b, {.device_memory_bytes = 15 * mib, .host_memory_bytes = 0}),
              ElementsAre(AllOf(HasSubstr("needs 16.0 MiB of host memory"),
                                HasSubstr("the host has 15.0 MiB"))));
}

TEST(memory_need, tells_slots_inputs_and_weights_apart) {
  spec_builder b;
  b.input("x", {256}).stage("a", "gpu", {"x"}).with("weights", 100);
  b.stage("b", "work", {"a"}).with("weights", 10);
  b.spec.run.in_flight = 3;
  const plan p = plan_of(b);
  const memory_need need = need_of(p, place_buffers(p, {}));
  EXPECT_EQ(need.device.slot, 1024u);
  EXPECT_EQ(need.device.slots, 3072u);
  EXPECT_EQ(need.device.inputs, 1024u);
  EXPECT_EQ(need.device.weights, 400u);
  EXPECT_EQ(need.device.total(), 4496u);
  EXPECT_EQ(need.host.slot, 2048u);
  EXPECT_EQ(need.host.weights, 40u);
}

TEST(memory_need, stops_at_the_largest_number) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(saturating_add(most, 1), most);
  EXPECT_EQ(saturating_add(1, 2), 3u);
  EXPECT_EQ(saturating_multiply(most / 2, 3), most);
  EXPECT_EQ(saturating_multiply(0, 3), 0u);
  EXPECT_EQ(saturating_multiply(5, 3), 15u);
}

}  // namespace
}  // namespace graphline::testing
