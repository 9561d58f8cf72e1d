#include "framework/analysis/experiment/chains.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "framework/analysis/experiment/experiment_summary.hpp"
#include "tests/analysis/finding_texts.hpp"
#include "tests/analysis/made_experiments.hpp"

namespace graphline {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using times = std::vector<nanoseconds>;

/// A pipeline of CPU stages; `due` of each frame, and when each stage begins and ends in it.
struct made_pipeline {
  std::string name;
  times due;
  std::vector<std::pair<std::string, std::vector<stamp_pair>>> stages;
};

run_record run_of(const made_pipeline& of, nanoseconds epoch = 1'000) {
  run_record run;
  run.pipeline = of.name;
  run.epoch = epoch;
  for (std::size_t i = 0; i < of.due.size(); ++i) {
    run.frames.push_back(
        {of.due[i], of.stages.front().second[i].begin, of.stages.back().second[i].end});
  }
  for (const auto& [name, stamps] : of.stages) {
    stage_record& stage = run.stages.emplace_back();
    stage.name = name;
    stage.on = side::cpu;
    stage.cpu = stamps;
  }
  return run;
}

/// A stage that begins every `period` from `phase` on and takes `length`.
made_pipeline periodic(const std::string& name, const std::string& stage, nanoseconds period,
                       nanoseconds phase, nanoseconds length, int frames) {
  made_pipeline made{name, {}, {{stage, {}}}};
  for (int i = 0; i < frames; ++i) {
    made.due.push_back(phase + i * period);
    made.stages[0].second.push_back({made.due.back(), made.due.back() + length});
  }
  return made;
}

const chain_record brake{"brake", {{"camera", "grab"}, {"control", "act"}}};

chain_times of_two(const run_record& camera, const run_record& control) {
  return chain_times_of(brake, {"camera", "control"}, {camera, control});
}

// The camera samples at 0, 10, 20, 30 and publishes 2 later. The control reads at 5, 20, 35, 50 and
// ends 3 later, so it uses the samples 0, 1 (published at 12), 3 (32) and 4 (42).
const made_pipeline camera = periodic("camera", "grab", 10, 0, 2, 7);
const made_pipeline control = periodic("control", "act", 15, 5, 3, 4);

TEST(a_chain, of_two_periodic_tasks_has_the_times_computed_by_hand) {
  run_record from = run_of(camera);
  from.frames.front().begin = 0;
  run_record to = run_of(control);
  to.frames.front().begin = 0;  // from here on, samples count
  const chain_times found = of_two(from, to);
  EXPECT_EQ(found.why_unknown, "");
  EXPECT_THAT(found.ages, ElementsAre(8, 13, 8)) << "samples 0, 1, 3; 4 may be used again";
  EXPECT_THAT(found.reactions, ElementsAre(23, 28, 18, 23)) << "of samples 1, 2, 3, 4";
  EXPECT_EQ(found.unused, 1U) << "sample 2";
}

TEST(a_chain, leaves_out_what_lies_before_all_pipelines_began_or_after_one_ended) {
  const chain_times found = of_two(run_of(camera), run_of(control));
  EXPECT_THAT(found.ages, ElementsAre(13, 8)) << "sample 0 is from before the control began";
  EXPECT_THAT(found.reactions, ElementsAre(23, 28, 18, 23));

  const made_pipeline longer = periodic("control", "act", 15, 5, 3, 9);
  const chain_times cut = of_two(run_of(camera), run_of(longer));
  EXPECT_EQ(cut.ages, found.ages) << "the camera ended at 62";
  EXPECT_EQ(cut.reactions, found.reactions) << "the output that ends at 68 does not count";
}

TEST(a_chain, with_a_fast_reader_ages_until_the_last_output_that_uses_a_sample) {
  // The control reads at 0, 4, 8, ... and ends 1 later; a sample is published 2 after 0, 10, 20.
  const made_pipeline fast = periodic("control", "act", 4, 0, 1, 8);
  const chain_times found = of_two(run_of(periodic("camera", "grab", 10, 0, 2, 4)), run_of(fast));
  EXPECT_THAT(found.ages, ElementsAre(9, 11)) << "reads at 4 and 8; at 12, 16 and 20";
  EXPECT_THAT(found.reactions, ElementsAre(13, 15)) << "reads at 12 and 24";
  EXPECT_EQ(found.unused, 0U);
}

TEST(a_chain, places_runs_with_different_epochs_on_one_clock) {
  run_record later = run_of(control, 1'005);
  for (stamp_pair& s : later.stages[0].cpu) s = {s.begin - 5, s.end - 5};
  for (frame_record& f : later.frames) f = {f.due - 5, f.begin - 5, f.end - 5};
  const chain_times found = of_two(run_of(camera), later);
  EXPECT_EQ(found.ages, of_two(run_of(camera), run_of(control)).ages);
  EXPECT_EQ(found.reactions, of_two(run_of(camera), run_of(control)).reactions);
}

TEST(a_chain, uses_the_stamps_of_device_stages_on_the_clock_of_the_host) {
  const auto expected = of_two(run_of(camera), run_of(control)).ages;
  for (auto column : {&stage_record::device, &stage_record::synced}) {
    run_record device = run_of(camera);
    device.stages[0].on = side::device;
    std::swap(device.stages[0].cpu, device.stages[0].*column);
    EXPECT_EQ(of_two(device, run_of(control)).ages, expected);
  }
}

TEST(a_chain, says_why_it_has_no_times) {
  run_record untimed = run_of(control);
  untimed.run.timing = timing_method::none;
  untimed.stages[0].cpu.clear();
  EXPECT_EQ(of_two(run_of(camera), untimed).why_unknown,
            "timing: none does not show when control.act begins and ends");
  run_record no_clock = run_of(control);
  no_clock.epoch.reset();
  EXPECT_THAT(of_two(run_of(camera), no_clock).why_unknown, HasSubstr("no common clock"));
  run_record empty;
  EXPECT_EQ(of_two(run_of(camera), empty).why_unknown, "no frame ran control.act");
  EXPECT_THAT(of_two(run_of(camera), empty).ages, IsEmpty());
}

TEST(a_chain, passes_over_frames_that_skipped_a_stage) {
  run_record from = run_of(camera);
  from.stages[0].rows = {1, skipped, 1, 1, 1, 1, 1};
  const chain_times found = of_two(from, run_of(control));
  // The reads at 5 and 20 use sample 0, that at 35 sample 3, that at 50 sample 4.
  EXPECT_THAT(found.ages, ElementsAre(8));
  EXPECT_EQ(found.unused, 2U);
}

TEST(a_chain, takes_a_batch_as_one_sample_due_with_its_first_frame) {
  run_record from = run_of(periodic("camera", "grab", 10, 0, 2, 6));
  from.batches = {{1, 0}, {1, 0}, {1, 0}, {1, 0}, {2, 0}};
  from.stages[0].cpu.pop_back();
  from.stages[0].cpu.back() = {50, 52};
  run_record to = run_of(periodic("control", "act", 15, 5, 3, 6));
  from.frames.back().end = 90;
  EXPECT_THAT(of_two(from, to).ages, ElementsAre(13, 23)) << "sample 3 is used at 35 and 50";
  EXPECT_EQ(of_two(from, to).reactions.back(), 38) << "read at 65, ended at 68, due before at 30";
}

// ---- Against a brute-force calculation ----------------------------------------------------------

struct made_link {
  const made_pipeline* pipeline;
  std::size_t stage;
  const std::vector<stamp_pair>& jobs() const { return pipeline->stages[stage].second; }
};

/// Follows each sample forward and each output backward, by scanning all jobs.
chain_times brute_force(const std::vector<made_link>& chain) {
  chain_times result;
  const times& due = chain.front().pipeline->due;
  nanoseconds start = INT64_MIN;
  nanoseconds stop = INT64_MAX;
  for (const made_link& link : chain) {
    start = std::max(start, link.pipeline->stages.front().second.front().begin);
    stop = std::min(stop, link.pipeline->stages.back().second.back().end);
  }
  for (std::size_t k = 1; k < due.size(); ++k) {
    std::size_t job = k;
    bool reaches = true;
    for (std::size_t i = 1; i < chain.size() && reaches; ++i) {
      if (chain[i].pipeline == chain[i - 1].pipeline) continue;
      const nanoseconds published = chain[i - 1].jobs()[job].end;
      for (job = 0; job < chain[i].jobs().size(); ++job) {
        if (chain[i].jobs()[job].begin >= published) break;
      }
      reaches = job < chain[i].jobs().size();
    }
    if (!reaches || chain.back().jobs()[job].end > stop || due[k] < start) continue;
    result.reactions.push_back(chain.back().jobs()[job].end - due[k - 1]);
  }
  std::map<std::size_t, nanoseconds> last;
  for (std::size_t output = 0; output < chain.back().jobs().size(); ++output) {
    std::size_t job = output;
    bool known = chain.back().jobs()[output].end <= stop;
    for (std::size_t i = chain.size() - 1; i > 0 && known; --i) {
      if (chain[i].pipeline == chain[i - 1].pipeline) continue;
      const nanoseconds read = chain[i].jobs()[job].begin;
      known = false;
      for (std::size_t j = 0; j < chain[i - 1].jobs().size(); ++j) {
        if (chain[i - 1].jobs()[j].end > read) continue;
        job = j;
        known = true;
      }
    }
    if (known) last[job] = std::max(last[job], chain.back().jobs()[output].end);
  }
  for (std::size_t k = 0; !last.empty() && k < last.rbegin()->first; ++k) {
    if (due[k] < start) continue;
    if (last.contains(k)) {
      result.ages.push_back(last[k] - due[k]);
    } else {
      ++result.unused;
    }
  }
  return result;
}

TEST(a_chain, agrees_with_brute_force_and_with_the_bound_of_davare_on_random_sets) {
  std::mt19937 random(40);
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<nanoseconds>(low, high)(random);
  };
  std::size_t compared = 0;
  for (int set = 0; set < 500; ++set) {
    std::vector<made_pipeline> made;
    nanoseconds bound = 0;  // the sum of periods and response times
    for (const char* name : {"a", "b", "c"}) {
      const nanoseconds period = pick(8, 60);
      made_pipeline one{name, {}, {{"first", {}}, {"second", {}}}};
      nanoseconds due = pick(0, 60);
      for (int i = 0; i < 40; ++i, due += period) {
        const nanoseconds begin = due + pick(0, static_cast<int>(period / 4));
        const nanoseconds middle = begin + pick(1, static_cast<int>(period / 4));
        one.due.push_back(due);
        one.stages[0].second.push_back({begin, middle});
        one.stages[1].second.push_back({middle, middle + pick(1, static_cast<int>(period / 4))});
      }
      bound += period + period / 4 * 3;
      made.push_back(std::move(one));
    }
    std::vector<made_link> links = {{&made[0], 0}, {&made[1], 0}, {&made[2], 1}};
    if (set % 2 == 1)
      links = {{&made[0], 0}, {&made[0], 1}, {&made[1], 0}, {&made[2], 0}, {&made[2], 1}};
    chain_record chain;
    for (const made_link& link : links) {
      chain.stages.emplace_back(link.pipeline->name, link.pipeline->stages[link.stage].first);
    }
    const chain_times found =
        chain_times_of(chain, {"a", "b", "c"}, {run_of(made[0]), run_of(made[1]), run_of(made[2])});
    const chain_times expected = brute_force(links);
    ASSERT_EQ(found.ages, expected.ages) << "set " << set;
    ASSERT_EQ(found.reactions, expected.reactions) << "set " << set;
    ASSERT_EQ(found.unused, expected.unused) << "set " << set;
    for (const nanoseconds time : found.reactions) ASSERT_LE(time, bound) << "set " << set;
    for (const nanoseconds time : found.ages) ASSERT_LE(time, bound) << "set " << set;
    compared += found.ages.size();
  }
  EXPECT_GT(compared, 3000U);
}

TEST(chains, are_summarized_for_each_configuration_with_all_their_pipelines) {
  experiment_record record;
  record.configurations = {{"camera alone", {}, {"camera"}},
                           {"together", {}, {"camera", "control"}}};
  record.chains = {brake};
  record.chains[0].age = 10;
  record.chains[0].reaction = 23;
  for (std::size_t block = 0; block < 2; ++block) {
    record.trials.push_back({0, block, 0, {run_of(camera)}});
    record.trials.push_back({1, block, 0, {run_of(camera), run_of(control)}});
  }
  const auto found = summarize(record).chains;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].configuration, 1U);
  EXPECT_EQ(found[0].used, 4U);
  EXPECT_EQ(found[0].unused, 2U);
  ASSERT_TRUE(found[0].age.bound && found[0].reaction.bound);
  EXPECT_EQ(found[0].age.bound->late, 2U) << "13 and 8, twice";
  EXPECT_EQ(found[0].reaction.bound->late, 2U)
      << "23, 28, 18 and 23, twice: a time at the bound is met";
  ASSERT_TRUE(found[0].age.times && found[0].reaction.times);
  EXPECT_EQ(found[0].age.times->percentile(0.5), std::nullopt) << "4 values do not carry it";
  EXPECT_EQ(found[0].reaction.times->percentile(0.5), 23);
  EXPECT_EQ(found[0].reaction.times->max(), 28);
}

bool is_claim(const comparison& of) {
  return of.verdict == verdict::faster || of.verdict == verdict::slower;
}

TEST(chains, are_compared_once_for_each_pair_of_configurations) {
  const auto record = samples::made_chains({1, 0.8, 1});
  const auto summary = summarize(record);
  const auto& found = summary.chain_comparisons;
  ASSERT_EQ(found.size(), 8U) << "p50 and p95 of two times, of two configurations";
  for (std::size_t i = 0; i < found.size(); ++i) {
    const comparison& one = found[i];
    const bool age = i % 4 < 2;
    EXPECT_EQ(one.pair, record.pairs[i < 4 ? 0 : 2]);
    EXPECT_EQ(one.times, age ? &chain_summary::age : &chain_summary::reaction);
    EXPECT_EQ(one.figure, i % 2 == 0 ? figure::p50 : figure::tail);
    const double factor = i < 4 ? 0.8 : 1;
    const double time = age ? 8e6 : 18e6;
    EXPECT_NEAR(one.reference, time, 0.004 * time);
    EXPECT_NEAR(one.value, factor * time, 0.004 * time);
    ASSERT_TRUE(one.ratio_range);
    EXPECT_TRUE(one.ratio_range->contains(factor)) << i;
    EXPECT_LT(one.ratio_range->high - one.ratio_range->low, 0.02) << i;
    if (i < 4) {
      EXPECT_EQ(one.verdict, verdict::faster);
    } else {
      EXPECT_FALSE(is_claim(one)) << "the first and the last are equal";
    }
  }
}

TEST(chains, of_equal_configurations_are_rarely_called_faster_or_slower) {
  std::size_t claims = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto found = summarize(samples::made_chains({1, 1}, seed)).chain_comparisons;
    ASSERT_EQ(found.size(), 4U);
    claims += std::ranges::any_of(found, is_claim) ? 1 : 0;
  }
  EXPECT_LE(claims, 7U) << "5 % of 60, and two standard deviations";
}

TEST(chains, of_few_blocks_have_no_verdict_but_say_how_many_trials_are_missing) {
  auto record = samples::made_chains({1, 0.8});
  std::erase_if(record.trials, [](const trial_record& trial) { return trial.block > 2; });
  const auto found = summarize(record).chain_comparisons;
  ASSERT_EQ(found.size(), 2U) << "36 ages and 39 reaction times carry no p95";
  EXPECT_NEAR(found[0].ratio, 0.8, 0.005);
  EXPECT_EQ(found[0].ratio_range, std::nullopt);
  EXPECT_EQ(found[0].verdict, verdict::inconclusive);
  EXPECT_EQ(found[0].more_trials, 2);
}

TEST(chains, are_not_compared_if_latency_grows_at_their_source) {
  auto record = samples::made_chains({1, 1});
  for (trial_record& trial : record.trials) {
    if (trial.configuration == 0) continue;
    run_record& source = trial.members[0];  // due every 5 ms, done every 10 ms
    source.run.arrival = arrival::constant;
    source.run.rate = 200;
    for (std::size_t i = 0; i < source.frames.size(); ++i) {
      const auto begin = static_cast<nanoseconds>(i) * 10'000'000;
      source.frames[i] = {begin / 2, begin, begin + 10'000'000};
      source.stages[0].cpu[i] = {begin, begin + 10'000'000};
    }
  }
  const auto summary = summarize(record);
  ASSERT_EQ(summary.chains.size(), 2U);
  ASSERT_TRUE(summary.chains[1].age.times);
  EXPECT_THAT(summary.chains[1].age.times->why_unsettled(), HasSubstr("overloaded"));
  EXPECT_EQ(summary.chains[0].age.times->why_unsettled(), "");
  EXPECT_THAT(summary.chain_comparisons, IsEmpty());
}

TEST(chains, that_changed_or_exceed_their_bounds_are_findings) {
  auto record = samples::made_chains({1, 0.8, 1});
  record.chains[0].age = 7'000'000;
  record.chains[0].reaction = 20'000'000;
  auto summary = summarize(record);
  auto found = samples::findings(record, summary);
  EXPECT_THAT(found,
              Contains(AllOf(StartsWith("chains_changed [chain_changed(brake) verdict=faster "
                                        "percentile=p50 with=6.4"),
                             HasSubstr("reference=speed=1 time=age configurations=speed=2] ["),
                             HasSubstr("time=reaction time configurations=speed=2]"),
                             Not(HasSubstr("p95")), Not(HasSubstr("speed=3")))));
  EXPECT_THAT(found, Contains("chains_exceed_bounds "
                              "[chain_exceeds_bound(brake) late=120 times=120 bound=7.00 ms "
                              "time=age configurations=speed=1] "
                              "[chain_exceeds_bound(brake) late=120 times=120 bound=7.00 ms "
                              "time=age configurations=speed=3]"));
  for (comparison& one : summary.chain_comparisons) {
    if (one.figure == figure::p50) one.verdict = verdict::inconclusive;
  }
  record.chains[0].age = 9'000'000;
  summary.chains = summarize(record).chains;
  found = samples::findings(record, summary);
  EXPECT_THAT(found, Contains(AllOf(StartsWith("chains_changed"), HasSubstr("percentile=p95"))));
  EXPECT_THAT(found, Not(Contains(StartsWith("chains_exceed_bounds"))));
}

}  // namespace
}  // namespace graphline
