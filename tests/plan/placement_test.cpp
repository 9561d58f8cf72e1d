#include "framework/plan/placement.hpp"

#include <gmock/gmock.h>

#include "tests/plan/random_plans.hpp"

namespace graphline::testing {
namespace {

/// A tensor or scratch with its bytes, and the stages that touch it.
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

/// Lets a frame happen in a random way that the edges allow, stages side by side, and checks at
/// each start that the blocks then alive lie apart.
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
  // The 8 KiB of a serve c and its scratch; b is alive beside both.
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

}  // namespace
}  // namespace graphline::testing
