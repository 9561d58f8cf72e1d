#include "framework/campaign/ranks/rank_job.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "framework/base/stage_activity.hpp"
#include "tests/ranks/thread_messages.hpp"

namespace graphline {
namespace {

using samples::mail;
using samples::thread_messages;
using testing::HasSubstr;

/// A run is encoded as its pipeline's name, its failure, and a frame per number.
const record_text as_words = {[](const run_record& record) {
                                return fmt::format("{} {}|{}", record.frames.size(),
                                                   record.pipeline, record.failure.value_or(""));
                              },
                              [](const std::string& text) {
                                run_record record;
                                record.frames.resize(std::stoul(text));
                                const auto bar = text.find('|');
                                record.pipeline =
                                    text.substr(text.find(' ') + 1, bar - text.find(' ') - 1);
                                if (bar + 1 < text.size()) record.failure = text.substr(bar + 1);
                                return record;
                              }};

/// Ranks as threads.
struct job {
  explicit job(std::size_t size) : post(size), began(size), statuses(size), errors(size) {}

  /// Each rank prepares, begins, works, and gathers.
  template <class Prepare, class Work>
  void run(const Prepare& prepare, const Work& work) {
    std::vector<std::thread> threads;
    for (std::size_t r = 0; r < statuses.size(); ++r) {
      threads.emplace_back([&, r] {
        thread_messages messages(post, static_cast<int>(r));
        rank_job own(messages, as_words, interrupted);
        try {
          own.prepare([&] {
            prepare(r);
            return r == other ? "another pipeline" : "a pipeline";
          });
          run_record record;
          record.pipeline = fmt::format("of_{}", r);
          own.note_progress(true, 1);
          own.begin();
          began[r] = now();
          work(r, own, record);
          if (!record.failure) own.end();
          auto all = own.gather(record);
          if (all) {
            gathered = std::move(*all);
            std::this_thread::sleep_for(reporting);
          }
          statuses[r] = static_cast<int>(own.finish(exit_status::gate_failed));
        } catch (const thread_messages::aborted& e) {
          statuses[r] = e.status;
        } catch (const error& e) {
          errors[r] = e.what();
          try {
            statuses[r] = static_cast<int>(own.finish(e.status()));
          } catch (const thread_messages::aborted& abort) {
            statuses[r] = abort.status;
          }
        }
      });
    }
    for (auto& thread : threads) thread.join();
  }

  mail post;
  std::size_t other = 99;                  ///< rank that runs another pipeline
  std::chrono::milliseconds reporting{0};  ///< how long rank 0 takes to report
  stop_request interrupted;
  std::vector<nanoseconds> began;
  std::vector<int> statuses;
  std::vector<std::string> errors;
  ranks_record gathered;
};

void nothing(std::size_t) {}

void wait_for_stop(const rank_job& of) {
  while (!of.stop().raised()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(rank_job, ranks_begin_together_and_rank_0_gathers_their_records) {
  job ranks(4);
  ranks.run([](std::size_t r) { std::this_thread::sleep_for(std::chrono::milliseconds(30 * r)); },
            [](std::size_t r, rank_job&, run_record& record) { record.frames.resize(r + 1); });
  ASSERT_EQ(ranks.gathered.ranks.size(), 4U);
  for (std::size_t r = 0; r < 4; ++r) {
    const rank_record& one = ranks.gathered.ranks[r];
    ASSERT_TRUE(one.run) << one.lost;
    EXPECT_EQ(one.run->pipeline, fmt::format("of_{}", r));
    EXPECT_EQ(one.run->frames.size(), r + 1);
    EXPECT_EQ(one.rank, std::int64_t(r));
    EXPECT_EQ(one.local_rank, std::int64_t(r));
    if (r == 0) continue;
    // All threads read one clock, so the true offset is 0.
    ASSERT_EQ(one.clock.size(), 2U);
    for (const clock_offset& found : one.clock) {
      EXPECT_LE(std::abs(found.offset), found.error);
    }
    EXPECT_GT(one.clock[1].at, ranks.began[r]);
    EXPECT_LT(one.clock[0].at, ranks.began[r]);
    // None begins before all are prepared.
    EXPECT_GE(ranks.began[r], ranks.began[3] - 20'000'000);
  }
  EXPECT_FALSE(ranks.gathered.failure);
  EXPECT_FALSE(ranks.gathered.interrupted);
  EXPECT_EQ(ranks.statuses, (std::vector{4, 0, 0, 0})) << "mpirun would kill the others";
}

TEST(rank_job, an_error_in_the_preparation_of_one_rank_ends_all_and_is_named) {
  job ranks(3);
  bool worked = false;
  ranks.run(
      [](std::size_t r) {
        if (r == 2) throw no_device_error("there is no GPU");
      },
      [&](std::size_t, rank_job&, run_record&) { worked = true; });
  EXPECT_FALSE(worked);
  EXPECT_THAT(ranks.errors[0], HasSubstr("rank 2 on "));
  EXPECT_THAT(ranks.errors[0], HasSubstr(": there is no GPU"));
  EXPECT_EQ(ranks.statuses[0], int(exit_status::no_device));
  EXPECT_EQ(ranks.statuses[1], 0);
}

TEST(rank_job, ranks_that_run_different_pipelines_are_refused) {
  job ranks(3);
  ranks.other = 1;
  ranks.run(nothing, [&](std::size_t, rank_job&, run_record&) {});
  EXPECT_THAT(ranks.errors[0], HasSubstr(": it runs another pipeline, and rank 0 a pipeline"));
  EXPECT_THAT(ranks.errors[0], testing::StartsWith("rank 1 on "));
  EXPECT_EQ(ranks.statuses[0], int(exit_status::bad_input));
}

TEST(rank_job, an_error_that_all_ranks_share_is_said_once) {
  job ranks(3);
  ranks.run([](std::size_t) { throw input_error("p.yaml:3:1: error: unknown layer"); },
            [&](std::size_t, rank_job&, run_record&) {});
  EXPECT_EQ(ranks.errors[0], "p.yaml:3:1: error: unknown layer");
  EXPECT_EQ(ranks.statuses[0], int(exit_status::bad_input));
}

TEST(rank_job, a_stage_that_fails_on_one_rank_ends_all_and_keeps_their_frames) {
  job ranks(3);
  ranks.run(nothing, [](std::size_t r, rank_job& own, run_record& record) {
    record.frames.resize(5);
    if (r == 1) {
      record.failure = "stage 'x', frame 5: out of memory";
    } else {
      wait_for_stop(own);
      record.interrupted = true;
    }
  });
  ASSERT_EQ(ranks.gathered.ranks.size(), 3U);
  EXPECT_EQ(ranks.gathered.ranks[1].run->failure, "stage 'x', frame 5: out of memory");
  EXPECT_EQ(ranks.gathered.ranks[2].run->frames.size(), 5U);
  EXPECT_THAT(ranks.gathered.failure.value_or(""), HasSubstr("rank 1 on "));
  EXPECT_FALSE(ranks.gathered.interrupted) << "nobody interrupted the run";
}

TEST(rank_job, a_failure_on_rank_0_ends_all_and_keeps_their_frames) {
  job ranks(3);
  ranks.run(nothing, [](std::size_t r, rank_job& own, run_record& record) {
    record.frames.resize(r + 2);
    if (r == 0) {
      record.failure = "stage 'x', frame 2: out of memory";
    } else {
      wait_for_stop(own);
      // Longer than a frame; the records of slow ranks are waited for.
      std::this_thread::sleep_for(std::chrono::seconds(3));
      record.interrupted = true;
    }
  });
  ASSERT_EQ(ranks.gathered.ranks.size(), 3U);
  for (std::size_t r = 0; r < 3; ++r) {
    ASSERT_TRUE(ranks.gathered.ranks[r].run) << ranks.gathered.ranks[r].lost;
    EXPECT_EQ(ranks.gathered.ranks[r].run->frames.size(), r + 2);
  }
}

TEST(rank_job, the_others_wait_for_as_long_as_rank_0_reports) {
  job ranks(2);
  ranks.reporting = std::chrono::milliseconds(rank_job::longest_silence / 1'000'000 + 1500);
  ranks.run(nothing, [](std::size_t, rank_job&, run_record& record) { record.frames.resize(1); });
  EXPECT_EQ(ranks.statuses, (std::vector{4, 0}));
}

TEST(rank_job, an_interrupt_keeps_what_all_ranks_measured) {
  job ranks(2);
  ranks.run(nothing, [&](std::size_t r, rank_job& own, run_record& record) {
    record.frames.resize(7);
    record.interrupted = true;
    if (r == 1) ranks.interrupted.raise();
    wait_for_stop(own);
  });
  EXPECT_TRUE(ranks.gathered.interrupted);
  EXPECT_FALSE(ranks.gathered.failure);
  ASSERT_EQ(ranks.gathered.ranks.size(), 2U);
  EXPECT_EQ(ranks.gathered.ranks[1].run->frames.size(), 7U);
}

TEST(rank_job, a_rank_that_falls_silent_is_lost_with_what_it_was_last_seen_in) {
  job ranks(3);
  const nanoseconds begin = now();
  ranks.run(nothing, [&](std::size_t r, rank_job& own, run_record& record) {
    record.frames.resize(2);
    if (r == 2) {
      // Ranks are threads of one process here, so that each sees the stages of all.
      const stage_scope at_work({stage_label_of("track", "my.track", ""), 12});
      std::this_thread::sleep_for(std::chrono::milliseconds(900));
      const std::scoped_lock lock(ranks.post.mutex);
      ranks.post.silent[2] = true;
      return;
    }
    wait_for_stop(own);
    EXPECT_LT(now() - begin, 8'000'000'000);
    record.interrupted = true;
  });
  ASSERT_EQ(ranks.gathered.ranks.size(), 3U);
  EXPECT_THAT(ranks.gathered.ranks[2].lost, HasSubstr("it has sent no message for 5 s"));
  EXPECT_THAT(ranks.gathered.ranks[2].lost, HasSubstr("stage 'track' (my.track), frame 12"));
  EXPECT_EQ(ranks.gathered.ranks[1].run->frames.size(), 2U);
  EXPECT_EQ(ranks.statuses[0], 4) << "by abort";
}

TEST(rank_job, a_stage_that_does_not_return_ends_all_and_keeps_what_was_measured) {
  job ranks(2);
  const nanoseconds begin = now();
  std::atomic<bool> released = false;
  ranks.run(nothing, [&](std::size_t r, rank_job& own, run_record& record) {
    record.frames.resize(3);
    if (r == 0) {
      wait_for_stop(own);
      EXPECT_LT(now() - begin, 9'000'000'000);
      record.interrupted = true;
      released = true;
      return;
    }
    const stage_scope at_work({stage_label_of("decode", "cpu.decode", ""), 3});
    while (!released) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  EXPECT_THAT(ranks.gathered.failure.value_or(""),
              HasSubstr("stage 'decode' (cpu.decode), frame 3 has not returned for 6 s"));
  EXPECT_EQ(ranks.gathered.ranks[0].run->frames.size(), 3U);
}

}  // namespace
}  // namespace graphline
