#include "framework/run/experiment/experiment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "framework/base/error.hpp"

namespace graphline {
namespace {

using testing::ElementsAre;

/// Answers with the same runs for every configuration.
class made_up_runner final : public trial_runner {
 public:
  std::vector<run_record> run(std::size_t, const trial_request&, const stop_request*) override {
    return records;
  }

  std::vector<run_record> records;
};

/// Ten measured frames of two members, after two of warm-up.
experiment_plan together() {
  experiment_plan p;
  planned_configuration c;
  c.what.name = "together";
  c.members.resize(2);
  for (plan& member : c.members) {
    member.run.frames = 10;
    member.run.warmup = 2;
  }
  p.configurations.push_back(std::move(c));
  return p;
}

TEST(try_out, takes_a_run_that_began_no_frame_before_the_leading_one_was_done_for_no_interruption) {
  made_up_runner runner;
  runner.records.resize(2);
  runner.records[0].frames = {{0, 0, 500}, {500, 500, 1000}};
  EXPECT_THAT(try_out(together(), runner, nullptr), ElementsAre(12 * 500));
}

TEST(try_out, ends_where_a_person_interrupts_it) {
  made_up_runner runner;
  runner.records.resize(2);
  runner.records[0].frames = {{0, 0, 500}};
  runner.records[0].interrupted = true;
  EXPECT_THROW(try_out(together(), runner, nullptr), interrupted_error);
}

}  // namespace
}  // namespace graphline
