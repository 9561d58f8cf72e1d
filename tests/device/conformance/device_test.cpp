// The device as a whole: properties, synchronizing, many streams. Threads: thread_test.cpp.

#include <algorithm>

#include "tests/device/conformance/fixture.hpp"

namespace graphline::conformance {
namespace {

class conformance_device : public device_test {};

TEST_F(conformance_device, says_what_it_is) {
  const device_properties& p = dev().properties();
  EXPECT_FALSE(p.backend.empty());
  EXPECT_FALSE(p.name.empty());
  EXPECT_GT(p.memory_bytes, std::uint64_t{0});
  EXPECT_GE(p.priority_levels, 1);
  EXPECT_LE(p.priority_levels, 3);
}

TEST_F(conformance_device, synchronizes_every_stream_in_every_way_of_waiting) {
  const auto a = make_stream("a");
  const auto b = make_stream("b");
  const memory counter = make_counter();
  const memory a_seen = make_reading();
  const memory b_seen = make_reading();
  std::int32_t done = 0;
  for (const wait_mode how : {wait_mode::spin, wait_mode::yield, wait_mode::block}) {
    on().enqueue_busy(*a, 300);
    enqueue_count(*a, counter, a_seen);
    on().enqueue_busy(*b, 300);
    enqueue_count(*b, counter, b_seen);
    dev().synchronize(how);
    done += 2;
    EXPECT_EQ(std::max(value_of(a_seen), value_of(b_seen)), done);
  }
}

TEST_F(conformance_device, synchronizes_at_once_when_there_is_nothing_to_do) {
  dev().synchronize(wait_mode::spin);
  const auto s = make_stream("s");
  dev().synchronize(wait_mode::block);
  dev().synchronize(wait_mode::yield);
}

TEST_F(conformance_device, serves_many_streams) {
  constexpr std::size_t count = 100;
  const memory counter = make_counter();
  std::vector<std::unique_ptr<stream>> streams;
  std::vector<std::unique_ptr<event>> ends;
  for (std::size_t i = 0; i < count; ++i) {
    streams.push_back(make_stream("one of many", static_cast<priority>(i % 3)));
    ends.push_back(dev().make_event("end"));
  }
  // A chain through all of them, against the order of their making.
  for (std::size_t i = count; i-- > 0;) {
    if (i + 1 < count) streams[i]->wait(*ends[i + 1]);
    on().enqueue_add_one(*streams[i], counter.data());
    streams[i]->record(*ends[i]);
  }
  ends[0]->wait(wait_mode::block);
  EXPECT_EQ(read(counter), static_cast<std::int32_t>(count));
}

}  // namespace
}  // namespace graphline::conformance
