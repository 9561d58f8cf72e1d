#include "framework/spec/settings_reader.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "framework/spec/configuration_reader.hpp"
#include "framework/spec/experiment_reader.hpp"
#include "framework/spec/key_table.hpp"
#include "framework/spec/pipeline_reader.hpp"
#include "framework/spec/settings_table.hpp"

namespace graphline {
namespace {

TEST(read_setting, notes_which_settings_were_read_and_which_could_not_be) {
  settings run;
  settings_places places;
  diagnostics out;
  read_setting(run, places, "frames", "7", out);
  read_setting(run, places, "timing", "evnet", out);
  EXPECT_TRUE(places.each.contains("frames") && !places.each.contains("timing"));
  EXPECT_EQ(places.unread, std::set<std::string>{"timing"});
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
  EXPECT_EQ(
      out.render(),
      "error: 'in_flight' must be 1 to 64, found 65\n"
      "error: unknown value 'fast' for 'strategy' (known: serial, async, overlap)\n"
      "error: 'deadline' must be a duration in ns, us, ms, s or min, such as 20ms, found '20'");
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
                          {"workers", "0", "1024", "-1", "1025"},
                          {"streams", "1", "64", "0", "65"},
                          {"realtime", "0", "99", "-1", "100"},
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

TEST(read_setting, takes_streams_as_a_word_or_a_number_and_writes_them_back) {
  for (const char* const text : {"auto", "one", "per_stage", "per_branch", "1", "64"}) {
    settings run;
    run.streams = {stream_rule::per_stage, 7};
    diagnostics out;
    read_setting(run, "streams", text, out);
    EXPECT_EQ(out.render(), "");
    EXPECT_EQ(written(run.streams), text);
  }
  for (const char* const text : {"onee", "2.5", "two", "-1", ""}) {
    settings run;
    diagnostics out;
    read_setting(run, "streams", text, out);
    EXPECT_EQ(run.streams, stream_choice{}) << text;
    EXPECT_NE(out.render().find("'streams' must be "), std::string::npos) << text;
    EXPECT_NE(out.render().find("1 to 64"), std::string::npos) << text;
  }
}

/// A mapping with the defaults of all keys, as in a file.
node written_defaults(const std::vector<parameter>& keys) {
  std::vector<node::member> members;
  for (const parameter& p : keys) {
    if (p.default_value) members.push_back({{p.name}, *p.default_value});
  }
  return node::mapping(std::move(members));
}

TEST(run_keys, have_the_defaults_of_a_run_without_them) {
  const settings untouched;
  settings run;
  // Starts from other values, so that a default that is not stored fails the test.
  run.strategy = strategy::overlap;
  run.graphs = graph_mode::off;
  run.timing = timing_method::none;
  run.wait = wait_mode::spin;
  run.priorities = false;
  run.in_flight = run.frames = run.warmup = run.threads = run.workers = run.queue = 60;
  run.batch_frames = run.realtime = run.burst = 60;
  run.streams = {.at_most = 60};
  run.seed = 60;
  run.arrival = arrival::poisson;
  run.when_full = queue_policy::drop_newest;
  run.late = late_rule::drop;
  settings_places places;
  diagnostics out;
  read_settings(run, places, written_defaults(run_keys()), out);
  EXPECT_EQ(out.render(), "");
  each_setting([&](auto member, const setting_entry& of) {
    EXPECT_EQ(run.*member, untouched.*member) << of.key;
  });
  EXPECT_EQ(places.each.size(),
            run_keys().size() - 7);  // those of optional members have none
}

TEST(experiment_setting_keys, have_the_defaults_of_an_experiment_without_them) {
  const experiment_settings untouched;
  diagnostics out;
  const node written = written_defaults(experiment_setting_keys());
  const experiment_settings how = read_experiment_settings(written, out);
  EXPECT_EQ(out.render(), "");
  EXPECT_EQ(written.members().size(), experiment_setting_keys().size() - 3);
  EXPECT_EQ(how.trials, untouched.trials);
  EXPECT_EQ(how.margin, untouched.margin);
  EXPECT_EQ(how.tail, untouched.tail);
  EXPECT_EQ(how.seed, untouched.seed);
  EXPECT_EQ(how.repeat_affected, untouched.repeat_affected);
}

TEST(key_tables, state_each_key_once_with_its_help_and_a_default_that_it_takes) {
  for (const auto& keys : {pipeline_keys(), input_keys(), stage_keys(), run_keys(),
                           experiment_keys(), member_keys(), configuration_keys()}) {
    for (const parameter& p : keys) {
      EXPECT_EQ(find_parameter(keys, p.name), &p) << p.name << " is there twice";
      EXPECT_TRUE(p.help.ends_with('.')) << p.name;
      diagnostics out;
      if (p.default_value) read_value(p, node(*p.default_value), "", out);
      EXPECT_EQ(out.render(), "") << p.name;
    }
  }
}

}  // namespace
}  // namespace graphline
