#include "framework/run/execute/concurrent_runs.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace graphline {
namespace {

/// Each function in a thread of its own.
void at_once(const std::vector<std::function<void()>>& work) {
  std::vector<std::thread> threads;
  for (const auto& w : work) threads.emplace_back(w);
  for (auto& t : threads) t.join();
}

TEST(start_barrier, lets_none_begin_before_all_are_ready) {
  start_barrier m({true, false, false});
  std::atomic<int> ready = 0;
  std::atomic<bool> early = false;
  const auto run = [&](std::size_t i) {
    ++ready;
    m.begin(i);
    if (ready != 3) early = true;
    m.end(i);
    m.leave(i, false);
  };
  at_once({[&] { run(0); }, [&] { run(1); }, [&] { run(2); }, [&] { m.see_through(nullptr); }});
  EXPECT_FALSE(early);
  EXPECT_EQ(m.why(), stop_reason::foreground);
}

TEST(start_barrier, tells_the_others_to_stop_once_the_foreground_has_ended) {
  start_barrier m({true, false, true});
  std::atomic<int> foreground = 0;
  std::atomic<int> foreground_when_stopped = 0;
  const auto lead = [&](std::size_t i) {
    m.begin(i);
    ++foreground;
    m.end(i);
    m.leave(i, false);
  };
  const auto follow = [&] {
    m.begin(1);
    while (!m.stop_of(1)->raised()) std::this_thread::yield();
    foreground_when_stopped = foreground.load();
    m.end(1);
    m.leave(1, false);
  };
  at_once({[&] { lead(0); }, follow, [&] { lead(2); }, [&] { m.see_through(nullptr); }});
  EXPECT_EQ(foreground_when_stopped, 2);
}

TEST(start_barrier, keeps_those_that_have_ended_until_all_have) {
  start_barrier m({true, false});
  std::atomic<bool> other_ended = false;
  bool waited = false;
  at_once({[&] {
             m.begin(0);
             m.end(0);
             waited = other_ended;
             m.leave(0, false);
           },
           [&] {
             m.begin(1);
             while (!m.stop_of(1)->raised()) std::this_thread::yield();
             other_ended = true;
             m.end(1);
             m.leave(1, false);
           },
           [&] { m.see_through(nullptr); }});
  EXPECT_TRUE(waited);
}

TEST(start_barrier, lets_nobody_wait_for_a_run_that_fails_before_it_begins) {
  start_barrier m({true, false});
  at_once({[&] {
             m.begin(0);
             EXPECT_TRUE(m.stop_of(0)->raised());
             m.end(0);
             m.leave(0, false);
           },
           [&] { m.leave(1, true); }, [&] { m.see_through(nullptr); }});
  EXPECT_EQ(m.why(), stop_reason::failure);
}

TEST(start_barrier, hands_on_a_persons_stop_while_runs_wait_to_begin) {
  start_barrier m({true, false});
  stop_request stop;
  at_once({[&] {
             stop.raise();
             m.begin(0);
             m.end(0);
             m.leave(0, false);
           },
           [&] {
             // Never gets as far as its first frame.
             while (!m.stop_of(1)->raised()) std::this_thread::yield();
             m.leave(1, false);
           },
           [&] { m.see_through(&stop); }});
  EXPECT_EQ(m.why(), stop_reason::person);
}

}  // namespace
}  // namespace graphline
