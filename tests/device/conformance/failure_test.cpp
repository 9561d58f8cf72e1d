// A failed device stays failed, reports the cause, and blocks no thread.

#include "tests/device/conformance/fixture.hpp"

namespace graphline::conformance {
namespace {

class conformance_failure : public device_test {};

TEST_F(conformance_failure, is_told_by_every_way_of_waiting) {
  const auto s = make_stream("s");
  const auto e = dev().make_event("e");
  on().enqueue_failure(*s);
  s->record(*e);
  for (const wait_mode how : {wait_mode::spin, wait_mode::yield, wait_mode::block}) {
    expect_run_error([&] { e->wait(how); }, on().failure_text());
    expect_run_error([&] { dev().synchronize(how); }, on().failure_text());
  }
  expect_run_error([&] { static_cast<void>(e->done()); }, on().failure_text());
}

TEST_F(conformance_failure, stays_and_hides_nothing_of_the_first_cause) {
  const auto s = make_stream("s");
  const auto other = make_stream("other");
  const auto e = dev().make_timed_event("e");
  on().enqueue_failure(*s);
  EXPECT_THROW(dev().synchronize(wait_mode::block), run_error);
  on().enqueue_busy(*other, 10);
  on().enqueue_failure(*other);
  other->record(*e);
  expect_run_error([&] { e->wait(wait_mode::block); }, on().failure_text());
  expect_run_error([&] { dev().synchronize(wait_mode::block); }, on().failure_text());
}

TEST_F(conformance_failure, carries_nothing_out_any_more) {
  const auto s = make_stream("s");
  const memory reading = make_reading();
  const memory source = dev().allocate_pinned(sizeof(std::int32_t));
  std::memset(source.data(), 0, source.bytes());
  on().enqueue_failure(*s);
  s->copy(reading.data(), source.data(), sizeof(std::int32_t));
  EXPECT_THROW(dev().synchronize(wait_mode::block), run_error);
  EXPECT_EQ(value_of(reading), -1);
}

TEST_F(conformance_failure, releases_streams_that_wait_for_it) {
  const auto s = make_stream("s");
  const auto waiting = make_stream("waiting");
  const auto failed = dev().make_event("failed");
  const auto end = dev().make_event("end");
  on().enqueue_failure(*s);
  s->record(*failed);
  waiting->wait(*failed);
  waiting->record(*end);
  EXPECT_THROW(end->wait(wait_mode::block), run_error);
}

TEST_F(conformance_failure, inside_a_graph_is_told_too) {
  const auto s = make_stream("s");
  const memory counter = make_counter();
  const auto exec = make_exec(*s, [&] {
    on().enqueue_add_one(*s, counter.data());
    on().enqueue_failure(*s);
    on().enqueue_add_one(*s, counter.data());
  });
  s->launch(*exec);
  s->launch(*exec);
  expect_run_error([&] { dev().synchronize(wait_mode::block); }, on().failure_text());
}

TEST_F(conformance_failure, still_lets_everything_be_destroyed) {
  auto s = make_stream("s");
  auto e = dev().make_timed_event("e");
  memory m = dev().allocate(64);
  auto exec = make_exec(*s, [&] { on().enqueue_failure(*s); });
  s->launch(*exec);
  s->record(*e);
  for (int i = 0; i < 100; ++i) on().enqueue_busy(*s, 10);
  exec.reset();
  e.reset();
  s.reset();
  m = {};
  EXPECT_THROW(dev().synchronize(wait_mode::block), run_error);
}

}  // namespace
}  // namespace graphline::conformance
