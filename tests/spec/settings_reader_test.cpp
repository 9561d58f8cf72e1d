#include "framework/spec/settings_reader.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace graphline {
namespace {

TEST(read_setting, sets_one_value_as_a_command_line_gives_it) {
  settings run;
  diagnostics out;
  read_setting(run, "frames", "7", out);
  read_setting(run, "graphs", "off", out);
  read_setting(run, "priorities", "off", out);
  read_setting(run, "deadline", "20 ms", out);
  read_setting(run, "arrival", "poisson", out);
  read_setting(run, "rate", "29.97", out);
  read_setting(run, "when_full", "drop_oldest", out);
  EXPECT_EQ(out.render(), "");
  EXPECT_EQ(run.frames, 7);
  EXPECT_EQ(run.graphs, graph_mode::off);
  EXPECT_FALSE(run.priorities);
  EXPECT_EQ(run.deadline, 20'000'000);
  EXPECT_EQ(run.arrival, arrival::poisson);
  EXPECT_EQ(run.rate, 29.97);
  EXPECT_EQ(run.when_full, queue_policy::drop_oldest);
}

TEST(read_setting, changes_nothing_when_the_value_is_wrong) {
  settings run;
  diagnostics out;
  read_setting(run, "in_flight", "65", out);
  read_setting(run, "strategy", "fast", out);
  read_setting(run, "deadline", "20", out);
  EXPECT_EQ(run.in_flight, 1);
  EXPECT_EQ(run.strategy, strategy::async);
  EXPECT_FALSE(run.deadline);
  EXPECT_EQ(out.render(),
            "error: 'in_flight' must be from 1 to 64, found 65\n"
            "error: unknown value 'fast' for 'strategy' (known: serial, async, overlap)\n"
            "error: 'deadline' needs a unit, such as 20ms");
}

TEST(read_setting, forgets_a_wrong_value_once_a_right_one_was_given) {
  settings run;
  settings_places places;
  diagnostics out;
  read_setting(run, places, "frames", node::scalar("many", false, {}), out);
  EXPECT_EQ(places.unread, std::set<std::string>{"frames"});
  read_setting(run, places, "frames", node::scalar("7", false, {}), out);
  EXPECT_TRUE(places.unread.empty());
  EXPECT_EQ(run.frames, 7);
}

TEST(read_setting, suggests_the_nearest_key) {
  settings run;
  diagnostics out;
  read_setting(run, "in-fligth", "2", out);
  EXPECT_EQ(out.render(), "error: unknown setting 'in-fligth' (did you mean 'in_flight'?)");
}

TEST(read_setting, takes_the_ends_of_every_range_and_nothing_beyond) {
  struct range {
    const char* key;
    const char* least;
    const char* most;
    const char* below;
    const char* above;
  };
  const range ranges[] = {{"frames", "1", "100000000", "0", "100000001"},
                          {"warmup", "0", "1000000", "-1", "1000001"},
                          {"in_flight", "1", "64", "0", "65"},
                          {"threads", "0", "1024", "-1", "1025"},
                          {"seed", "0", "9223372036854775807", "-1", "9223372036854775808"},
                          {"deadline", "1ns", "9e9s", "0ns", "1e10s"},
                          {"rate", "0.000001", "1000000", "1e-12", "1000000.5"},
                          {"queue", "1", "1000000", "0", "1000001"}};
  for (const auto& [key, least, most, below, above] : ranges) {
    settings run;
    diagnostics fine;
    read_setting(run, key, least, fine);
    read_setting(run, key, most, fine);
    EXPECT_EQ(fine.render(), "");
    diagnostics wrong;
    read_setting(run, key, below, wrong);
    read_setting(run, key, above, wrong);
    EXPECT_EQ(wrong.all().size(), 2U) << key;
  }
}

TEST(setting_keys, can_each_be_read) {
  for (const std::string& key : setting_keys()) {
    settings run;
    diagnostics out;
    read_setting(run, key, node(), out);
    ASSERT_EQ(out.all().size(), 1U) << key;
    EXPECT_EQ(out.render().find("unknown"), std::string::npos) << out.render();
  }
}

}  // namespace
}  // namespace graphline
