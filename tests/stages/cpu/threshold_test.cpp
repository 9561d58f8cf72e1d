#include <gmock/gmock.h>

#include <cmath>
#include <string>
#include <vector>

#include "stages/kinds.hpp"
#include "tests/stages/cpu/stage_trial.hpp"

namespace graphline {
namespace {

using testing::ElementsAre;

/// The flags of NumPy, as in `np.max(values) < np.float32(0.8)`.
TEST(threshold, decides_as_numpy_does) {
  const struct {
    std::vector<float> values;
    const char* parameters;
    std::int64_t flag;
  } cases[] = {
      {{0.1F, 0.7F, 0.2F}, "{below: 0.8}", 1},
      {{0.1F, 0.9F, 0.2F}, "{below: 0.8}", 0},
      {{0.9F, 0.1F, 0.2F}, "{below: 0.8}", 0},
      {{0.8F}, "{below: 0.8}", 0},
      {{0.8F}, "{above: 0.8}", 0},
      {{0.8F, 0.81F}, "{above: 0.8}", 1},
      {{0.7F, 0.9F}, "{value: smallest, below: 0.8}", 1},
      {{0.9F, 0.7F}, "{value: smallest, above: 0.8}", 0},
      {{0.9F, 0.85F}, "{value: smallest, above: 0.8}", 1},
      {{-INFINITY, -3}, "{value: smallest, below: -1e30}", 1},
      {{INFINITY}, "{above: 1e30}", 1},
      {{0.1F, NAN}, "{below: 0.8}", 0},
      {{NAN, 0.1F}, "{below: 0.8}", 0},
      {{NAN, 0.9F}, "{above: 0.8}", 0},
      {{0.9F, NAN, 0.1F}, "{value: smallest, below: 0.8}", 0},
  };
  for (const auto& c : cases) {
    const auto count = static_cast<std::int64_t>(c.values.size());
    stage_trial trial(threshold_kind(), c.parameters, {{{1, count}, dtype::float32}});
    EXPECT_EQ(trial.prepared().outputs[0], (tensor_type{{1}, dtype::int64}));
    trial.input(0, c.values).run();
    EXPECT_THAT(trial.output<std::int64_t>(0), ElementsAre(c.flag))
        << c.parameters << " of " << testing::PrintToString(c.values);
  }
}

TEST(threshold, needs_one_limit_and_numbers) {
  const auto complaints = [](const char* parameters, dtype element = dtype::float32) {
    return stage_trial(threshold_kind(), parameters, {{{1, 4}, element}}).complaints();
  };
  const std::string one = "it needs either 'below' or 'above', such as below: 0.8";
  EXPECT_THAT(complaints("{}"), ElementsAre(one));
  EXPECT_THAT(complaints("{below: 1, above: 0}"), ElementsAre(one));
  EXPECT_THAT(complaints("{below: 1}", dtype::int64),
              ElementsAre("cpu.threshold reads float32, found int64 [1, 4]"));
}

}  // namespace
}  // namespace graphline
