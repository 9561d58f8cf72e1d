// A device that several threads use at once, as pipelines that run at the same time do.

#include <array>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/device/conformance/fixture.hpp"

namespace graphline::conformance {
namespace {

class conformance_threads : public device_test {
 protected:
  /// Runs `work` in four threads at once; each is told its number.
  static void at_once(const std::function<void(int)>& work) {
    std::array<std::exception_ptr, 4> thrown;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&work, &problem = thrown[static_cast<std::size_t>(i)], i] {
        try {
          work(i);
        } catch (...) {
          problem = std::current_exception();
        }
      });
    }
    for (auto& t : threads) t.join();
    for (const auto& problem : thrown) {
      if (problem) std::rethrow_exception(problem);
    }
  }
};

TEST_F(conformance_threads, serves_streams_of_several_threads_at_once) {
  constexpr int count = 300;
  at_once([&](int number) {
    const auto s = make_stream("s" + std::to_string(number));
    const memory counter = make_counter();
    const auto begin = dev().make_timed_event("begin");
    const auto end = dev().make_timed_event("end");
    for (int i = 0; i < count; ++i) {
      s->record(*begin);
      on().enqueue_add_one(*s, counter.data());
      s->record(*end);
      end->wait(wait_mode::block);
      ASSERT_GE(end->since(*begin), 0);
    }
    EXPECT_EQ(read(counter), count);
  });
}

TEST_F(conformance_threads, synchronizes_for_a_thread_while_others_enqueue) {
  at_once([&](int number) {
    const auto s = make_stream("s" + std::to_string(number));
    const memory counter = make_counter();
    for (int i = 0; i < 100; ++i) {
      on().enqueue_add_one(*s, counter.data());
      const auto passed = dev().make_event("passed");
      s->record(*passed);
      dev().synchronize(number % 2 == 0 ? wait_mode::block : wait_mode::yield);
      EXPECT_TRUE(passed->done());
    }
  });
}

TEST_F(conformance_threads, checks_its_clock_for_several_threads_at_once) {
  at_once([&](int number) {
    const auto s = make_stream("s" + std::to_string(number));
    const auto e = dev().make_timed_event("e");
    for (int i = 0; i < 20; ++i) {
      EXPECT_GE(dev().check_clock().error, 0);
      const nanoseconds before = on().host_now();
      s->record(*e);
      e->wait(wait_mode::block);
      const nanoseconds after = on().host_now();
      const host_point p = e->on_host_clock();
      EXPECT_LE(before - p.error, p.at);
      EXPECT_LE(p.at, after + p.error);
    }
  });
}

}  // namespace
}  // namespace graphline::conformance
