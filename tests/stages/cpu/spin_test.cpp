#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

#include "framework/base/clock.hpp"
#include "stages/kinds.hpp"
#include "tests/stages/cpu/stage_trial.hpp"

namespace graphline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(spin, uses_the_processor_all_that_time) {
  const auto processor_time = [] {
    timespec t;
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return nanoseconds{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
  };
  stage_trial trial(spin_kind(), "{duration: 20ms}");
  const nanoseconds start = processor_time();
  trial.run();
  // A thread that slept would use next to nothing, one that others push aside still a good part.
  EXPECT_GT(processor_time() - start, 100'000);
}

TEST(spin, writes_nothing_and_takes_any_inputs) {
  const stage_trial none(spin_kind(), "{duration: 0ms}");
  EXPECT_THAT(none.complaints(), IsEmpty());
  EXPECT_THAT(none.shape().outputs, IsEmpty());
  const stage_trial two(spin_kind(), "{duration: 0ms}",
                        {{{2}, dtype::float32}, {{3, 4}, dtype::int64}});
  EXPECT_THAT(two.complaints(), IsEmpty());
  EXPECT_EQ(two.shape().cost.bytes_read, 0);
  EXPECT_EQ(two.shape().known, known_cost::all);
}

TEST(spin, stalls_in_the_one_frame_it_is_told) {
  stage_trial trial(spin_kind(), "{duration: 0ms, stall: 5ms, stall_at: 2}");
  std::vector<nanoseconds> times;
  for (std::int64_t frame = 0; frame < 4; ++frame) {
    const nanoseconds start = now();
    trial.run(frame);
    times.push_back(now() - start);
  }
  EXPECT_GE(times[2], 5'000'000);
  // The others do nothing; one that a busy machine holds up is not the rule.
  EXPECT_LT(std::min({times[0], times[1], times[3]}), times[2]);
}

TEST(spin, asks_which_frame_stalls) {
  const auto complaints = stage_trial(spin_kind(), "{duration: 0ms, stall: 5ms}").complaints();
  EXPECT_THAT(complaints, ElementsAre(HasSubstr("add stall_at")));
  EXPECT_THAT(stage_trial(spin_kind(), "{duration: 0ms, stall_at: 3}").complaints(), IsEmpty());
  EXPECT_THAT(stage_trial(spin_kind(), "{duration: 0ms, stall: 1ms, stall_at: -1}").complaints(),
              SizeIs(1));
}

}  // namespace
}  // namespace graphline
