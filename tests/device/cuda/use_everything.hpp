#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "framework/device/cuda/cuda_calls.hpp"
#include "framework/device/cuda/cuda_device.hpp"
#include "tests/device/conformance/test_function.hpp"
#include "tests/device/cuda/fake/fake_cuda.hpp"

namespace graphline {

inline void enqueue_add_one(stream& s, void* counter) {
  const auto work = [p = static_cast<std::int32_t*>(counter)] {
    ++*p;
    return cudaSuccess;
  };
  const auto handle = static_cast<cudaStream_t>(s.native());
  check_cuda(fake_cuda::launch_kernel(handle, "_Z7add_onePi", work, {counter}), "cudaLaunchKernel",
             "the kernel of this test");
}

/// Does everything a pipeline does with a device: by its streams, then twice by a graph. Returns
/// what a counter has reached in the end: 3.
inline std::int32_t use_everything(device& d) {
  const memory counter = d.allocate(sizeof(std::int32_t));
  const memory block = d.allocate(2000);
  const memory reading = d.allocate_pinned(sizeof(std::int32_t));
  const auto main = d.make_stream("main", priority::high);
  const auto side = d.make_stream("side", priority::low);
  const auto fork = d.make_event("fork");
  const auto join = d.make_event("join");
  const auto begin = d.make_timed_event("begin");
  const auto end = d.make_timed_event("end");
  const auto inner = d.make_timed_event("inner");
  static conformance::test_function noted("note", [] {});  // also called after a failure here

  const auto enqueue = [&] {
    main->fill(block.data(), std::byte{1}, block.bytes());
    main->record(*fork);
    side->wait(*fork);
    side->stamp(*inner);
    enqueue_add_one(*side, counter.data());
    side->record(*join);
    main->call(noted);
    main->wait(*join);
    main->copy(reading.data(), counter.data(), reading.bytes());
  };
  main->fill(counter.data(), std::byte{0}, counter.bytes());
  enqueue();
  d.synchronize(wait_mode::block);
  d.check_clock();

  const memory selector = d.allocate_pinned(sizeof(std::uint32_t));
  auto* const selected = static_cast<std::uint32_t*>(selector.data());
  *selected = 1;
  const auto captured = d.capture(*main, [&] {
    enqueue();
    main->select(selected,
                 std::vector<std::function<void()>>{
                     [] {}, [&] { main->fill(block.data(), std::byte{2}, block.bytes()); }});
  });
  static_cast<void>(captured->nodes());
  const auto exec = captured->instantiate();
  main->record(*begin);
  for (int i = 0; i < 2; ++i) main->launch(*exec);
  main->record(*end);
  for (const auto how : {wait_mode::spin, wait_mode::yield, wait_mode::block}) end->wait(how);
  static_cast<void>(end->since(*begin));
  static_cast<void>(inner->on_host_clock());
  d.profile(true);
  d.profile(false);
  d.check_clock();
  d.synchronize(wait_mode::spin);
  return *static_cast<const std::int32_t*>(reading.data());
}

}  // namespace graphline
