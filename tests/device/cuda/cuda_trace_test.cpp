// Traces of the `cuda` device, on a fake of CUPTI that tells of what a test notes in it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "framework/base/error.hpp"
#include "framework/device/cuda/cuda_device.hpp"
#include "tests/device/cuda/fake/fake_cupti.hpp"

namespace graphline {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class cuda_trace : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(setenv("GRAPHLINE_LIBRARY_PATH", GRAPHLINE_FAKE_FOLDER, 1), 0);
  }

  static std::string what_take_throws(operation_trace& trace) {
    try {
      trace.take();
    } catch (const run_error& e) {
      return e.what();
    }
    return "nothing";
  }
};

TEST_F(cuda_trace, tells_of_its_own_device_in_order_of_the_begin_and_once) {
  const auto trace = trace_cuda_operations(1);
  fake_cupti::note_kernel("_Z5laterv", 1, 500, 530);
  fake_cupti::note_kernel("elsewhere", 0, 100, 900);
  fake_cupti::note_kernel("_Z5scaleIfEvPT_", 1, 200, 450);
  const std::vector<operation_time> noted = trace->take();
  ASSERT_EQ(noted.size(), 2U);
  EXPECT_EQ(noted[0].name, "void scale<float>");
  EXPECT_EQ(noted[0].duration, 250);
  EXPECT_EQ(noted[1].name, "later");
  EXPECT_EQ(noted[1].duration, 30);
  EXPECT_THAT(trace->take(), IsEmpty());
}

TEST_F(cuda_trace, drops_what_the_one_before_it_has_left) {
  {
    const auto trace = trace_cuda_operations(0);
    fake_cupti::note_kernel("left", 0, 100, 200);
  }
  fake_cupti::note_kernel("between", 0, 300, 400);
  const auto trace = trace_cuda_operations(0);
  EXPECT_THAT(trace->take(), IsEmpty());
}

TEST_F(cuda_trace, does_not_take_times_that_are_not_known_for_none_at_all) {
  for (const auto& [begin, end] : {std::pair{0, 0}, {0, 200}, {100, 0}, {300, 200}}) {
    const auto trace = trace_cuda_operations(0);
    fake_cupti::note_kernel("timed", 0, 100, 200);
    fake_cupti::note_kernel("_Z7untimedv", 0, static_cast<std::uint64_t>(begin),
                            static_cast<std::uint64_t>(end));
    EXPECT_THAT(what_take_throws(*trace), HasSubstr("operation 'untimed' without time stamps"));
  }
  const auto next = trace_cuda_operations(0);
  EXPECT_THAT(next->take(), IsEmpty());
}

TEST_F(cuda_trace, tells_of_copies_and_fills_with_their_sizes) {
  const auto trace = trace_cuda_operations(0);
  fake_cupti::note_fill(4096, 0, 300, 310);
  fake_cupti::note_copy(3 << 20, 0, 100, 190);
  fake_cupti::note_copy(8, 1, 100, 190);  // on another device
  const std::vector<operation_time> noted = trace->take();
  ASSERT_EQ(noted.size(), 2U);
  EXPECT_EQ(noted[0].name, "copy 3.00 MiB");
  EXPECT_EQ(noted[0].duration, 90);
  EXPECT_EQ(noted[1].name, "fill 4.00 KiB");
  EXPECT_EQ(noted[1].duration, 10);
}

TEST_F(cuda_trace, does_not_pass_over_operations_that_found_no_room) {
  {
    const auto trace = trace_cuda_operations(0);
    fake_cupti::note_kernel("noted", 0, 100, 200);
    fake_cupti::drop(3);
    EXPECT_THAT(what_take_throws(*trace), HasSubstr("no memory for 3 of the operations"));
    fake_cupti::drop(1);
  }
  const auto next = trace_cuda_operations(0);
  EXPECT_THAT(next->take(), IsEmpty());
}

TEST_F(cuda_trace, is_one_at_a_time) {
  auto trace = trace_cuda_operations(0);
  EXPECT_THROW(static_cast<void>(trace_cuda_operations(1)), run_error);
  trace.reset();
  EXPECT_NO_THROW(trace = trace_cuda_operations(1));
}

}  // namespace
}  // namespace graphline
