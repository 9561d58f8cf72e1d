// Time stamps of events in graphs.

#include "tests/device/conformance/fixture.hpp"
#include "tests/device/conformance/test_function.hpp"

namespace graphline::conformance {
namespace {

class conformance_stamp : public device_test {
 protected:
  static nanoseconds earliest(const timed_event& e) {
    const host_point p = e.on_host_clock();
    return p.at - p.error;
  }
  static nanoseconds latest(const timed_event& e) {
    const host_point p = e.on_host_clock();
    return p.at + p.error;
  }
};

TEST_F(conformance_stamp, outside_a_capture_is_a_recording) {
  const auto e = dev().make_timed_event("e");
  const auto s = make_stream("s");
  const auto held = on().enqueue_gate(*s);
  const nanoseconds before = on().host_now();
  s->stamp(*e);
  EXPECT_FALSE(e->done());
  held->open();
  e->wait(wait_mode::block);
  EXPECT_GE(latest(*e), before);
  EXPECT_LE(earliest(*e), on().host_now());
}

TEST_F(conformance_stamp, in_a_graph_times_what_stands_between_two) {
  const auto begin = dev().make_timed_event("begin");
  const auto end = dev().make_timed_event("end");
  const auto s = make_stream("s");
  const auto exec = make_exec(*s, [&] {
    s->stamp(*begin);
    on().enqueue_busy(*s, 2000);
    s->stamp(*end);
  });
  const nanoseconds before = on().host_now();
  s->launch(*exec);
  dev().synchronize(wait_mode::block);
  const nanoseconds after = on().host_now();
  // Half the nominal time is a safe lower bound for any device clock.
  EXPECT_GE(end->since(*begin), 1'000'000);
  EXPECT_GE(latest(*begin), before);
  EXPECT_LE(earliest(*end), after);
}

TEST_F(conformance_stamp, in_a_graph_launched_twice_in_a_row_keeps_the_second) {
  const auto first_end = dev().make_timed_event("first end");
  const auto inside = dev().make_timed_event("inside");
  const auto s = make_stream("s");
  const auto exec = make_exec(*s, [&] {
    s->stamp(*inside);
    on().enqueue_busy(*s, 500);
  });
  s->launch(*exec);
  s->record(*first_end);
  on().enqueue_busy(*s, 2000);
  s->launch(*exec);
  dev().synchronize(wait_mode::block);
  EXPECT_GE(inside->since(*first_end), 1'000'000);
}

TEST_F(conformance_stamp, in_the_branches_of_a_graph_lies_between_fork_and_join) {
  std::vector<std::unique_ptr<timed_event>> marks;
  for (const char* name : {"fork", "left", "right", "join"}) {
    marks.push_back(dev().make_timed_event(name));
  }
  const auto s = make_stream("origin");
  const auto side = make_stream("side");
  const auto exec = make_exec(*s, [&] {
    s->stamp(*marks[0]);
    follow(*s, *side);
    on().enqueue_busy(*side, 300);
    side->stamp(*marks[2]);
    on().enqueue_busy(*s, 300);
    s->stamp(*marks[1]);
    follow(*side, *s);
    s->stamp(*marks[3]);
  });
  for (int i = 0; i < 2; ++i) {
    s->launch(*exec);
    dev().synchronize(wait_mode::block);
    for (const std::size_t branch : {1U, 2U}) {
      EXPECT_GE(marks[branch]->since(*marks[0]), 0);
      EXPECT_GE(marks[3]->since(*marks[branch]), 0);
    }
  }
}

TEST_F(conformance_stamp, around_a_call_in_a_graph_encloses_it) {
  nanoseconds called_at = 0;
  test_function note("note", [&] { called_at = on().host_now(); });
  const auto begin = dev().make_timed_event("begin");
  const auto end = dev().make_timed_event("end");
  const auto s = make_stream("s");
  const auto exec = make_exec(*s, [&] {
    s->stamp(*begin);
    s->call(note);
    s->stamp(*end);
  });
  for (int i = 0; i < 3; ++i) {
    s->launch(*exec);
    dev().synchronize(wait_mode::block);
    EXPECT_LE(earliest(*begin), called_at);
    EXPECT_GE(latest(*end), called_at);
  }
}

TEST_F(conformance_stamp, has_no_time_before_its_graph_is_launched) {
  const auto e = dev().make_timed_event("unseen");
  const memory counter = make_counter();
  const auto s = make_stream("s");
  const auto exec = make_exec(*s, [&] {
    on().enqueue_add_one(*s, counter.data());
    s->stamp(*e);
  });
  dev().synchronize(wait_mode::block);
  expect_run_error([&] { static_cast<void>(e->on_host_clock()); }, "unseen");
  expect_run_error([&] { static_cast<void>(e->since(*e)); }, "unseen");
}

TEST_F(conformance_stamp, in_a_graph_and_a_recording_stand_for_whichever_passed_last) {
  const auto e = dev().make_timed_event("e");
  const memory counter = make_counter();
  const auto s = make_stream("s");
  const auto exec = make_exec(*s, [&] {
    on().enqueue_add_one(*s, counter.data());
    s->stamp(*e);
  });
  for (int i = 0; i < 2; ++i) {
    const nanoseconds before_recording = on().host_now();
    s->record(*e);
    dev().synchronize(wait_mode::block);
    EXPECT_GE(latest(*e), before_recording);
    const nanoseconds before_launch = on().host_now();
    s->launch(*exec);
    dev().synchronize(wait_mode::block);
    EXPECT_GE(latest(*e), before_launch);
  }
}

}  // namespace
}  // namespace graphline::conformance
