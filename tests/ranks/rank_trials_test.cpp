#include "framework/campaign/ranks/rank_trials.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/stage_activity.hpp"
#include "tests/ranks/thread_messages.hpp"

namespace graphline {
namespace {

using samples::mail;
using samples::thread_messages;
using testing::HasSubstr;

/// A trial is encoded as its block, configuration, place and warning; it has a frame.
const trial_text as_numbers = {
    [](const trial_record& trial) {
      return fmt::format("{} {} {} {} {}", trial.block, trial.configuration, trial.begun,
                         trial.place ? trial.place->rank : -1, trial.members[0].warnings.at(0));
    },
    [](const std::string& text) {
      trial_record trial;
      trial.place.emplace();
      std::istringstream words(text);
      words >> trial.block >> trial.configuration >> trial.begun >> trial.place->rank;
      run_record& run = trial.members.emplace_back();
      run.frames = {{0, 0, 1'000'000}};
      words >> run.warnings.emplace_back();
      return trial;
    }};
const record_text no_records = {[](const run_record&) { return ""; },
                                [](const std::string&) { return run_record(); }};

class runner_by final : public trial_runner {
 public:
  using work = std::function<void(std::size_t configuration, std::uint64_t block, run_record&)>;
  explicit runner_by(work does) : does_(std::move(does)) {}
  std::vector<run_record> run(std::size_t configuration, const trial_request& request,
                              const stop_request* stop) override {
    run_record record;
    record.frames = {{0, 0, 1'000'000}};
    does_(configuration, request.number, record);
    record.interrupted = stop != nullptr && stop->raised();
    return {std::move(record)};
  }

 private:
  work does_;
};

/// An experiment of two configurations on ranks that are threads.
struct experiment_job {
  explicit experiment_job(std::size_t ranks) : statuses(ranks), post(ranks) {}

  void run(std::int64_t trials, const std::function<runner_by::work(std::size_t rank)>& work) {
    experiment_plan planned;
    planned.how.trials = trials;
    for (const char* name : {"a", "b"}) {
      auto& added = planned.configurations.emplace_back();
      added.what = {name, {}, {"pipeline"}};
      added.members.emplace_back();
    }
    std::vector<std::thread> threads;
    for (std::size_t r = 0; r < statuses.size(); ++r) {
      threads.emplace_back([&, r] {
        thread_messages messages(post, static_cast<int>(r));
        rank_job own(messages, no_records, interrupted);
        runner_by runner(work(r));
        try {
          own.prepare([] { return "an experiment"; });
          own.if_stuck([] { return std::nullopt; },
                       [&](ranks_record*, const std::string& why) { stuck = why; });
          own.begin_work();
          const trial_place place{std::int64_t(r), "here"};
          const std::vector<std::string> warnings{fmt::format("rank_{}", r)};
          if (r == 0) {
            rank_helpers helpers(own, statuses.size(), as_numbers);
            record = run_experiment(
                planned, runner,
                {.stop = &own.stop(), .place = place, .warnings = warnings, .helpers = &helpers});
            failure = own.failure();
          } else {
            run_assigned_blocks(own, place, warnings, planned, runner, as_numbers);
          }
          own.end_work();
          statuses[r] = static_cast<int>(own.finish(exit_status::gate_failed));
        } catch (const thread_messages::aborted& e) {
          statuses[r] = e.status;
        }
      });
    }
    for (auto& thread : threads) thread.join();
  }

  std::vector<int> statuses;
  mail post;
  stop_request interrupted;
  experiment_record record;
  std::optional<std::string> failure;
  std::string stuck;
};

runner_by::work do_nothing(std::size_t) {
  return [](std::size_t, std::uint64_t, run_record&) {};
}

TEST(rank_trials, each_rank_runs_whole_blocks_and_rank_0_has_all_trials) {
  experiment_job ranks(3);
  ranks.run(8, do_nothing);
  std::set<std::pair<std::size_t, std::size_t>> seen;
  for (const auto& trial : ranks.record.trials) {
    seen.emplace(trial.block, trial.configuration);
    EXPECT_EQ(trial.place->rank, std::int64_t(trial.block % 3)) << trial.block;
    const auto warning = fmt::format("rank_{}", trial.place->rank);
    EXPECT_EQ(trial.members[0].warnings, std::vector{warning});
  }
  EXPECT_EQ(seen.size(), 16U);
  EXPECT_EQ(ranks.record.trials.size(), 16U);
  EXPECT_FALSE(ranks.failure);
  EXPECT_EQ(ranks.statuses, (std::vector{4, 0, 0}));
}

TEST(rank_trials, blocks_of_a_round_run_at_the_same_time) {
  experiment_job ranks(2);
  std::atomic<int> at_work = 0;
  std::atomic<int> most = 0;
  ranks.run(4, [&](std::size_t) {
    return [&](std::size_t, std::uint64_t, run_record&) {
      const int now_at_work = ++at_work;
      if (now_at_work > most) most = now_at_work;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      --at_work;
    };
  });
  EXPECT_EQ(most, 2);
}

TEST(rank_trials, a_trial_that_fails_on_another_rank_ends_all_and_is_named) {
  experiment_job ranks(3);
  ranks.run(8, [](std::size_t rank) -> runner_by::work {
    return [rank](std::size_t configuration, std::uint64_t block, run_record& run) {
      if (rank == 2 && block == 5 && configuration == 1) run.failure = "out of memory";
    };
  });
  EXPECT_THAT(ranks.failure.value_or(""), HasSubstr("rank 2 on "));
  EXPECT_THAT(ranks.failure.value_or(""),
              HasSubstr("a trial of configuration 'b' failed: out of memory"));
  EXPECT_GE(ranks.record.trials.size(), 6U) << "the first round is kept";
  EXPECT_EQ(ranks.statuses, (std::vector{4, 0, 0}));
}

TEST(rank_trials, an_interrupt_ends_all_and_keeps_whole_trials) {
  experiment_job ranks(2);
  ranks.run(1000, [&](std::size_t rank) -> runner_by::work {
    return [&, rank](std::size_t, std::uint64_t block, run_record&) {
      if (rank == 0 && block == 4) ranks.interrupted.raise();
    };
  });
  EXPECT_TRUE(ranks.record.interrupted);
  EXPECT_FALSE(ranks.failure);
  EXPECT_EQ(ranks.record.trials.size(), 8U);
  EXPECT_EQ(ranks.statuses, (std::vector{4, 0}));
}

TEST(rank_trials, a_stage_that_hangs_on_another_rank_ends_all) {
  experiment_job ranks(2);
  const nanoseconds begin = now();
  std::atomic<bool> released = false;
  ranks.run(1000, [&](std::size_t rank) -> runner_by::work {
    return [&, rank](std::size_t, std::uint64_t block, run_record&) {
      if (block < 2) return;
      if (rank == 0) {
        while (!ranks.record.interrupted && now() - begin < 12'000'000'000 && !released) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          if (now() - begin > 8'000'000'000) released = true;
        }
        return;
      }
      const stage_scope at_work({stage_label_of("decode", "cpu.decode", ""), 3});
      while (!released) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
  });
  EXPECT_THAT(ranks.failure.value_or(""),
              HasSubstr("stage 'decode' (cpu.decode), frame 3 has not returned for 6 s"));
  EXPECT_GE(ranks.record.trials.size(), 4U);
}

}  // namespace
}  // namespace graphline
