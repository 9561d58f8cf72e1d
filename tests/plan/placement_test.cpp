#include "framework/plan/placement.hpp"

#include <gmock/gmock.h>

#include "tests/plan/plan_testing.hpp"
#include "tests/plan/random_plans.hpp"

namespace graphline::plan_testing {
namespace {

/// A tensor or scratch: its bytes and the stages that use it.
struct block {
  side on;
  std::size_t begin;
  std::size_t end;
  std::size_t born;
  std::vector<std::size_t> users;
  bool to_the_end;
};

std::vector<block> blocks_of(const plan& p, const placement& placed,
                             const std::vector<std::size_t>& scratch) {
  std::vector<block> blocks;
  for (std::size_t t = 0; t < p.tensors.size(); ++t) {
    const planned_tensor& tensor = p.tensors[t];
    if (tensor.input) {
      EXPECT_EQ(placed.tensor_offset[t], placement::none);
      continue;
    }
    const std::size_t begin = placed.tensor_offset[t];
    block b{tensor.on,        begin,          begin + tensor.type.bytes(), tensor.producer,
            tensor.consumers, tensor.output()};
    b.users.push_back(tensor.producer);
    blocks.push_back(b);
  }
  for (std::size_t s = 0; s < scratch.size(); ++s) {
    if (scratch[s] == 0) {
      EXPECT_EQ(placed.scratch_offset[s], placement::none);
      continue;
    }
    const std::size_t begin = placed.scratch_offset[s];
    blocks.push_back({side::device, begin, begin + scratch[s], s, {s}, false});
  }
  return blocks;
}

/// Executes a frame in a random order that the edges allow, stages concurrently, and checks at each
/// start that the blocks in use do not overlap.
void expect_no_overlap_in_a_random_frame(const plan& p, const std::vector<block>& blocks,
                                         random_source& random) {
  std::vector<bool> started(p.stages.size(), false);
  std::vector<bool> complete(p.stages.size(), false);
  for (std::size_t left = p.stages.size(); left > 0;) {
    std::vector<std::size_t> steps;
    for (std::size_t s = 0; s < p.stages.size(); ++s) {
      const auto& waits = p.stages[s].waits;
      const bool free = std::all_of(waits.begin(), waits.end(),
                                    [&](const dependency& w) { return complete[w.stage]; });
      if (!complete[s] && (started[s] || free)) steps.push_back(s);
    }
    const std::size_t s = steps[below(random, steps.size())];
    if (started[s]) {
      complete[s] = true;
      --left;
      continue;
    }
    started[s] = true;
    std::vector<const block*> alive;
    for (const block& b : blocks) {
      const bool over = !b.to_the_end && std::all_of(b.users.begin(), b.users.end(),
                                                     [&](std::size_t u) { return complete[u]; });
      if (started[b.born] && !over) alive.push_back(&b);
    }
    std::sort(alive.begin(), alive.end(), [](const block* a, const block* b) {
      return std::pair(a->on, a->begin) < std::pair(b->on, b->begin);
    });
    for (std::size_t i = 1; i < alive.size(); ++i) {
      ASSERT_TRUE(alive[i - 1]->on != alive[i]->on || alive[i - 1]->end <= alive[i]->begin);
    }
  }
}

TEST(placement, never_overlaps_what_may_be_alive_at_once) {
  random_source random(11);
  for (int round = 0; round < 300; ++round) {
    const plan p = plan_of(random_spec(random, 25));
    std::vector<std::size_t> scratch(p.stages.size(), 0);
    for (std::size_t s = 0; s < p.stages.size(); ++s) {
      if (p.stages[s].on == side::device && below(random, 2) == 0) {
        scratch[s] = 1 + below(random, 5000);
      }
    }
    const placement placed = place_buffers(p, scratch);
    const std::vector<block> blocks = blocks_of(p, placed, scratch);
    for (const block& b : blocks) {
      ASSERT_EQ(b.begin % 256, 0u);
      ASSERT_LE(b.end, b.on == side::device ? placed.device_bytes : placed.pinned_bytes);
    }
    ASSERT_LE(placed.device_bytes, placed.device_bytes_without_reuse);
    ASSERT_LE(placed.pinned_bytes, placed.pinned_bytes_without_reuse);
    for (int run = 0; run < 5; ++run) expect_no_overlap_in_a_random_frame(p, blocks, random);
  }
}

TEST(placement, lets_a_chain_live_in_two_buffers) {
  spec_builder b;
  b.input("x", {1024});
  for (std::size_t i = 0; i < 10; ++i) {
    b.stage(numbered(i), "gpu", {i == 0 ? "x" : numbered(i - 1)});
  }
  const placement placed = place_buffers(plan_of(b), {});
  EXPECT_EQ(placed.device_bytes, 2u * 4096);
  EXPECT_EQ(placed.device_bytes_without_reuse, 10u * 4096);
  EXPECT_EQ(placed.pinned_bytes, 0u);
}

TEST(placement, keeps_outputs_to_the_end_of_the_frame) {
  const plan p = plan_of(spec_builder()
                             .input("x", {1024})
                             .stage("output", "gpu", {"x"})
                             .stage("a", "gpu", {"x"}, {}, {"output"})
                             .stage("b", "gpu", {"a"}));
  const placement placed = place_buffers(p, {});
  EXPECT_EQ(placed.device_bytes, 3u * 4096);
}

TEST(placement, shares_nothing_between_stages_that_only_the_declared_order_separates) {
  const plan p = plan_of(spec_builder()
                             .input("x", {1024})
                             .stage("a", "gpu", {"x"})
                             .stage("end_a", "sink", {"a"})
                             .stage("b", "gpu", {"x"})
                             .stage("end_b", "sink", {"b"}));
  EXPECT_EQ(place_buffers(p, {}).device_bytes, 2u * 4096);
}

TEST(placement, puts_scratch_where_tensors_of_earlier_stages_were) {
  const plan p = plan_of(spec_builder()
                             .input("x", {1024})
                             .stage("a", "gpu", {"x"})
                             .with("shape", extents({2048}))
                             .stage("b", "gpu", {"a"})
                             .with("shape", extents({1024}))
                             .stage("c", "gpu", {"b"}));
  const placement placed = place_buffers(p, {0, 0, 4000});
  // c and its scratch reuse the 8 KiB of a; b is in use with both.
  EXPECT_EQ(placed.device_bytes, 3u * 4096);
  EXPECT_EQ(placed.scratch_offset[0], placement::none);
  EXPECT_EQ(placed.scratch_offset[2], 4096u);
}

TEST(placement, handles_a_pipeline_of_a_thousand_stages) {
  random_source random(12);
  spec_builder b;
  b.input("x", {64});
  for (std::size_t i = 0; i < 1000; ++i) {
    std::vector<std::string> reads = {"x"};
    for (std::size_t r = 0; i > 0 && r < 3; ++r) {
      reads.push_back(numbered(below(random, i)));
    }
    b.stage(numbered(i), i % 3 == 0 ? "work" : "gpu", reads);
  }
  const plan p = plan_of(b);
  const placement placed = place_buffers(p, {});
  EXPECT_LT(placed.device_bytes, placed.device_bytes_without_reuse);
}

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

TEST(memory_limits, take_a_tensor_that_just_fits_on_its_side_and_no_larger_one) {
  const spec_builder b =
      spec_builder().input("x", {4}).stage("a", "gpu", {"x"}).with("shape", extents({1 << 20}));
  EXPECT_THAT(errors_of(b, cuda_with(4 * mib, 0)), Each(Not(HasSubstr("tensor 'a' is"))));
  EXPECT_THAT(errors_of(b, cuda_with(4 * mib - 1, 0)), Contains(HasSubstr("tensor 'a' is")));
  const spec_builder on_cpu = spec_builder()
                                  .input("x", {8 * mib_of_floats}, side::cpu)
                                  .stage("a", "work", {"x"})
                                  .with("shape", extents({1}));
  EXPECT_THAT(errors_of(on_cpu, cuda_with(4 * mib, 64 * mib)), IsEmpty());
  EXPECT_THAT(errors_of(on_cpu, cuda_with(64 * mib, 4 * mib)),
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
                  "MiB; lower in_flight, or make shapes or the batch smaller"));
}

TEST(memory_limits, stay_right_for_absurd_counts) {
  spec_builder b;
  b.input("x", {mib_of_floats}).stage("a", "gpu", {"x"});
  b.spec.run.in_flight = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(errors_of(b, cuda_with(64 * mib, 0)), ElementsAre(HasSubstr("device memory")));
  b.spec.run.in_flight = 1;
  b.stage("b", "gpu", {"a"}).with("weights", std::numeric_limits<std::int64_t>::max());
  EXPECT_THAT(errors_of(b, cuda_with(64 * mib, 0)), ElementsAre(HasSubstr("16384 PiB of weights")));
}

TEST(memory_limits, take_both_sides_from_one_memory_on_the_host_device) {
  const spec_builder b = spec_builder()
                             .input("x", {4 * mib_of_floats})
                             .stage("a", "gpu", {"x"})
                             .stage("b", "work", {"a"});
  // x, a, a@cpu and b; the record and reports of 45 frames take less than this.
  const std::uint64_t record = 64 << 10;
  EXPECT_THAT(errors_of(b, cuda_with(8 * mib, 8 * mib + record)), IsEmpty());
  const auto enough = 16 * mib + record;
  EXPECT_THAT(errors_of(b, {.device_memory_bytes = enough, .host_memory_bytes = enough}),
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

plan_target machine_with(std::uint64_t memory, const std::string& backend) {
  return {backend, backend == "host" ? memory : 0, memory};
}

TEST(memory_limits, refuse_a_record_of_more_frames_than_the_host_has_memory_for) {
  spec_builder b;
  b.input("x", {256}).stage("a", "gpu", {"x"}).stage("b", "work", {"a"});
  b.spec.run.frames = 1'000'000;
  b.spec.run.timing = timing_method::event;
  // A frame and its cause; a copy and a device stage, each with two pairs of stamps and a thread; a
  // CPU stage with one pair; the cause of each; and when the host saw the copy complete. 'host'
  // also records busy times.
  const std::uint64_t frame = 24 + 4 + 2 * (2 * 16 + 4) + 16 + 4 + 3 * 4 + 8;
  struct {
    std::string backend;
    std::uint64_t record;
  } const cases[] = {{"cuda", frame * 1'000'000}, {"host", (frame + 2 * 8) * 1'000'000}};
  for (const auto& [backend, record] : cases) {
    const plan p = plan_of(b.spec, machine_with(0, backend));
    ASSERT_EQ(p.stages.size(), 3U);
    EXPECT_EQ(record_bytes(p, machine_with(0, backend)), record);
    const auto all = record_and_report_bytes(p, machine_with(0, backend));
    EXPECT_GT(all, record);
    const memory_need need = need_of(p, place_buffers(p, {}));
    const auto besides = need.host.total() + (backend == "host" ? need.device.total() : 0);
    EXPECT_THAT(errors_of(b, machine_with(all + besides, backend)), IsEmpty());
    const auto short_of = machine_with(all + besides - 1, backend);
    EXPECT_THAT(errors_of(b, short_of),
                ElementsAre(AllOf(HasSubstr("the record and reports of 1000000 frames take"),
                                  HasSubstr("measure fewer frames, use timing: none"))));
    spec_builder ended = b;
    ended.spec.run.max_time = 1'000'000'000;
    EXPECT_THAT(errors_of(ended, short_of), IsEmpty());
  }
}

}  // namespace
}  // namespace graphline::plan_testing
