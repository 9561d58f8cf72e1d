#include "framework/record/run_record.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace graphline {
namespace {

/// Three frames of 10 ns with all kinds of stamps.
run_record three_frames() {
  run_record made;
  stage_record stage;
  stage.parts.resize(1);
  for (nanoseconds at : {0, 10, 20}) {
    const stamp_pair pair{at + 1, at + 9};
    made.frames.push_back({.due = at, .begin = at, .end = at + 10});
    for (auto* column : {&made.launches, &stage.enqueued, &stage.device, &stage.synced, &stage.cpu,
                         &stage.parts[0].device}) {
      column->push_back(pair);
    }
  }
  made.stages = {stage_record{}, stage};
  return made;
}

TEST(run_record, goes_back_where_any_time_ends_before_it_begins) {
  EXPECT_FALSE(goes_back({}));
  EXPECT_FALSE(goes_back(three_frames()));
  const std::vector<std::pair<std::string, std::function<void(run_record&)>>> changes = {
      {"a frame", [](auto& r) { r.frames[1].end = r.frames[1].begin - 1; }},
      {"a wait in the queue", [](auto& r) { r.frames[1].begin = r.frames[1].due - 1; }},
      {"all frames",
       [](auto& r) {
         r.frames[2] = {-100, -100, -90};
       }},
      {"a launch", [](auto& r) { r.launches[2].end = r.launches[2].begin - 1; }},
      {"enqueued", [](auto& r) { r.stages[1].enqueued[0].end = 0; }},
      {"on the device", [](auto& r) { r.stages[1].device[0].end = 0; }},
      {"synchronized", [](auto& r) { r.stages[1].synced[0].end = 0; }},
      {"on the CPU", [](auto& r) { r.stages[1].cpu[0].end = 0; }},
      {"a part", [](auto& r) { r.stages[1].parts[0].device[0].end = 0; }}};
  for (const auto& [what, change] : changes) {
    run_record record = three_frames();
    change(record);
    EXPECT_TRUE(goes_back(record)) << what;
  }
}

TEST(run_record, does_not_go_back_where_a_time_is_0) {
  run_record record = three_frames();
  record.frames[0].end = 0;
  record.stages[1].cpu[1] = {15, 15};
  EXPECT_FALSE(goes_back(record));
}

}  // namespace
}  // namespace graphline
