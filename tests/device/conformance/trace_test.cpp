// Traces: which operations a device carried out, and how long each took.

#include <algorithm>

#include "tests/device/conformance/fixture.hpp"

namespace graphline::conformance {
namespace {

class conformance_trace : public device_test {
 protected:
  void SetUp() override {
    device_test::SetUp();
    if (!IsSkipped() && !on().can_be_traced()) GTEST_SKIP() << "nothing to trace here";
  }

  /// What a trace calls the subject's "add one".
  std::string name_of_add_one(operation_trace& trace, stream& s, const memory& counter) {
    on().enqueue_add_one(s, counter.data());
    dev().synchronize(wait_mode::block);
    const std::vector<operation_time> noted = trace.take();
    return noted.empty() ? "" : noted.back().name;
  }

  static std::int64_t count(const std::vector<operation_time>& noted, const std::string& name) {
    return std::ranges::count(noted, name, &operation_time::name);
  }
};

TEST_F(conformance_trace, notes_every_operation_on_streams_and_in_graphs) {
  const memory counter = make_counter();
  const auto a = make_stream("a");
  const auto b = make_stream("b");
  const auto trace = dev().trace_operations();
  const auto exec = make_exec(*a, [&] {
    for (int i = 0; i < 3; ++i) {
      on().enqueue_add_one(*a, counter.data());
    }
  });
  const std::string name = name_of_add_one(*trace, *a, counter);
  EXPECT_FALSE(name.empty());
  for (int i = 0; i < 5; ++i) on().enqueue_add_one(*b, counter.data());
  for (int i = 0; i < 2; ++i) a->launch(*exec);
  dev().synchronize(wait_mode::block);
  const std::vector<operation_time> noted = trace->take();
  EXPECT_GE(count(noted, name), 11);
  for (const operation_time& o : noted) EXPECT_GE(o.duration, 0) << o.name;
}

TEST_F(conformance_trace, tells_operations_apart_in_their_order_with_how_long_each_took) {
  const memory counter = make_counter();
  const auto s = make_stream("s");
  const auto trace = dev().trace_operations();
  const std::string name = name_of_add_one(*trace, *s, counter);
  on().enqueue_add_one(*s, counter.data());
  on().enqueue_busy(*s, 2000);
  dev().synchronize(wait_mode::block);
  const std::vector<operation_time> noted = trace->take();
  const auto add = std::ranges::find(noted, name, &operation_time::name);
  const auto busy = std::ranges::max_element(noted, {}, &operation_time::duration);
  ASSERT_NE(add, noted.end());
  EXPECT_LT(add, busy);
  // "Busy for about": half of it is a bound that a device's own clock cannot miss.
  EXPECT_GE(busy->duration, 1'000'000);
}

TEST_F(conformance_trace, notes_only_what_is_carried_out_while_it_exists_and_gives_it_once) {
  const memory counter = make_counter();
  const auto s = make_stream("s");
  on().enqueue_add_one(*s, counter.data());
  dev().synchronize(wait_mode::block);
  {
    const auto trace = dev().trace_operations();
    EXPECT_THAT(trace->take(), testing::IsEmpty());
    EXPECT_FALSE(name_of_add_one(*trace, *s, counter).empty());
    EXPECT_THAT(trace->take(), testing::IsEmpty());
    on().enqueue_add_one(*s, counter.data());
    dev().synchronize(wait_mode::block);
  }
  on().enqueue_add_one(*s, counter.data());
  dev().synchronize(wait_mode::block);
  const auto next = dev().trace_operations();
  EXPECT_THAT(next->take(), testing::IsEmpty());
  EXPECT_EQ(read(counter), 4);
}

TEST_F(conformance_trace, is_one_at_a_time) {
  auto trace = dev().trace_operations();
  EXPECT_THROW(dev().trace_operations(), run_error);
  trace.reset();
  EXPECT_NO_THROW(trace = dev().trace_operations());
}

}  // namespace
}  // namespace graphline::conformance
