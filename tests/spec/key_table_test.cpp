#include "framework/spec/key_table.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "framework/spec/configuration_reader.hpp"
#include "framework/spec/experiment_reader.hpp"
#include "framework/spec/pipeline_reader.hpp"
#include "framework/spec/settings_reader.hpp"
#include "framework/spec/settings_table.hpp"

namespace graphline {
namespace {

/// A mapping with the default of every key that has one, as a file would hold it.
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
  // Other values first, so that a default that is not stored shows.
  run.strategy = strategy::overlap;
  run.graphs = graph_mode::off;
  run.timing = timing_method::none;
  run.wait = wait_mode::spin;
  run.priorities = false;
  run.in_flight = run.frames = run.warmup = run.threads = run.queue = 60;
  run.seed = 60;
  run.arrival = arrival::poisson;
  run.when_full = queue_policy::drop_newest;
  settings_places places;
  diagnostics out;
  read_settings(run, places, written_defaults(run_keys()), out);
  EXPECT_EQ(out.render(), "");
  each_setting([&](auto member, const setting_entry& of) {
    EXPECT_EQ(run.*member, untouched.*member) << of.key;
  });
  EXPECT_EQ(places.each.size(), run_keys().size() - 2);  // deadline and rate have none
}

TEST(experiment_setting_keys, have_the_defaults_of_an_experiment_without_them) {
  const experiment_settings untouched;
  diagnostics out;
  const node written = written_defaults(experiment_setting_keys());
  const experiment_settings how = read_experiment_settings(written, out);
  EXPECT_EQ(out.render(), "");
  EXPECT_EQ(written.members().size(), experiment_setting_keys().size() - 2);
  EXPECT_EQ(how.trials, untouched.trials);
  EXPECT_EQ(how.margin, untouched.margin);
  EXPECT_EQ(how.tail, untouched.tail);
  EXPECT_EQ(how.seed, untouched.seed);
  EXPECT_EQ(how.repeat_affected, untouched.repeat_affected);
}

TEST(key_tables, state_each_key_once_with_its_help_and_a_default_that_it_takes) {
  for (const auto& keys :
       {pipeline_keys(), input_keys(), stage_keys(), run_keys(), experiment_keys(),
        common_run_keys(), member_keys(), configuration_keys()}) {
    for (const parameter& p : keys) {
      EXPECT_EQ(find_parameter(keys, p.name), &p) << p.name << " is there twice";
      EXPECT_TRUE(p.help.ends_with('.')) << p.name;
      diagnostics out;
      if (p.default_value) read_value(p, node(*p.default_value), "", out);
      EXPECT_EQ(out.render(), "") << p.name;
    }
  }
}

TEST(key_tables, state_what_stands_beside_together_among_the_keys_of_an_experiment) {
  for (const std::string& key : keys_not_beside_together()) {
    EXPECT_NE(find_parameter(experiment_keys(), key), nullptr) << key;
  }
  EXPECT_EQ(common_run_keys().size() + 2, run_keys().size());
}

}  // namespace
}  // namespace graphline
