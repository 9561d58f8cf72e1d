// One stream: order, asynchrony, copies and fills.

#include <array>
#include <thread>
#include <vector>

#include "tests/device/conformance/fixture.hpp"

namespace graphline::conformance {
namespace {

class conformance_stream : public device_test {};

TEST_F(conformance_stream, has_the_name_it_was_given) {
  EXPECT_EQ(make_stream("backbone")->name(), "backbone");
}

TEST_F(conformance_stream, carries_out_what_is_enqueued_in_order) {
  const auto s = make_stream("s");
  const memory counter = make_counter();
  std::vector<memory> readings;
  for (int i = 0; i < 20; ++i) {
    readings.push_back(make_reading());
    enqueue_count(*s, counter, readings.back());
  }
  dev().synchronize(wait_mode::block);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(value_of(readings[static_cast<std::size_t>(i)]), i + 1);
}

TEST_F(conformance_stream, returns_before_the_device_has_done_anything) {
  const auto s = make_stream("s");
  const memory counter = make_counter();
  const memory reading = make_reading();
  const auto held = on().enqueue_gate(*s);
  enqueue_count(*s, counter, reading);
  const auto end = dev().make_event("end");
  s->record(*end);
  // All calls have returned while the device cannot have passed the gate.
  EXPECT_FALSE(end->done());
  EXPECT_EQ(value_of(reading), -1);
  held->open();
  end->wait(wait_mode::block);
  EXPECT_EQ(value_of(reading), 1);
}

TEST_F(conformance_stream, copies_ordinary_memory_to_the_device_and_back) {
  constexpr std::size_t bytes = 1 << 18;
  std::vector<std::byte> source(bytes);
  for (std::size_t i = 0; i < bytes; ++i) source[i] = static_cast<std::byte>(i * 5 % 253);
  std::vector<std::byte> target(bytes);
  const memory there = dev().allocate(bytes);
  const auto s = make_stream("s");
  s->copy(there.data(), source.data(), bytes);
  s->copy(target.data(), there.data(), bytes);
  dev().synchronize(wait_mode::block);
  EXPECT_EQ(target, source);
}

TEST_F(conformance_stream, copies_to_the_device_within_it_and_back) {
  constexpr std::size_t bytes = 1 << 20;
  const memory source = dev().allocate_pinned(bytes);
  const memory first = dev().allocate(bytes);
  const memory second = dev().allocate(bytes);
  const memory target = dev().allocate_pinned(bytes);
  for (std::size_t i = 0; i < bytes; ++i) *source.at(i) = static_cast<std::byte>(i * 7 % 251);
  std::memset(target.data(), 0, bytes);

  const auto s = make_stream("s");
  s->copy(first.data(), source.data(), bytes);
  s->copy(second.data(), first.data(), bytes);
  s->copy(target.data(), second.data(), bytes);
  dev().synchronize(wait_mode::block);
  EXPECT_EQ(std::memcmp(target.data(), source.data(), bytes), 0);
}

TEST_F(conformance_stream, copies_only_what_it_is_told_to) {
  const memory source = dev().allocate_pinned(8);
  const memory target = dev().allocate_pinned(8);
  std::memcpy(source.data(), "abcdefgh", 8);
  std::memcpy(target.data(), "........", 8);
  const auto s = make_stream("s");
  s->copy(target.at(2), source.at(1), 3);
  s->copy(target.data(), source.data(), 0);
  dev().synchronize(wait_mode::block);
  EXPECT_EQ(std::string(static_cast<const char*>(target.data()), 8), "..bcd...");
}

TEST_F(conformance_stream, fills_every_byte_and_no_other) {
  const memory block = dev().allocate(100);
  const memory reading = dev().allocate_pinned(100);
  const auto s = make_stream("s");
  s->fill(block.data(), std::byte{1}, 100);
  s->fill(block.at(10), std::byte{0xab}, 80);
  s->fill(block.data(), std::byte{9}, 0);
  s->copy(reading.data(), block.data(), 100);
  dev().synchronize(wait_mode::block);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(*reading.at(i), i < 10 || i >= 90 ? std::byte{1} : std::byte{0xab}) << "byte " << i;
  }
}

TEST_F(conformance_stream, finishes_its_work_when_it_is_destroyed) {
  const memory counter = make_counter();
  {
    const auto s = make_stream("short-lived");
    on().enqueue_busy(*s, 1000);
    for (int i = 0; i < 10; ++i) on().enqueue_add_one(*s, counter.data());
  }
  dev().synchronize(wait_mode::block);
  EXPECT_EQ(read(counter), 10);
}

TEST_F(conformance_stream, may_be_used_from_one_thread_after_another) {
  const auto s = make_stream("s");
  const memory counter = make_counter();
  for (int i = 0; i < 4; ++i) {
    std::thread([&] { on().enqueue_add_one(*s, counter.data()); }).join();
  }
  dev().synchronize(wait_mode::block);
  EXPECT_EQ(read(counter), 4);
}

}  // namespace
}  // namespace graphline::conformance
