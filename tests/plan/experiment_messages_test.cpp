// What a user sees of an experiment that cannot be planned, as a whole.

#include <gmock/gmock.h>

#include "framework/base/error.hpp"
#include "tests/plan/experiment_testing.hpp"

namespace graphline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// What is said of an experiment on `small_pipeline`, whose lines begin with the third.
std::string said(const std::string& lines, const plan_target& target = {}) {
  const experiment_folder folder;
  folder.write("small.yaml", small_pipeline);
  return said_of(folder, "experiment: e\npipeline: small.yaml\n" + lines, target);
}

/// The same on a pipeline of another text.
std::string said_on(const std::string& pipeline, const std::string& lines) {
  const experiment_folder folder;
  folder.write("p.yaml", pipeline);
  return said_of(folder, "experiment: e\npipeline: p.yaml\n" + lines);
}

TEST(a_missing_pipeline, is_named_as_written_and_as_looked_for) {
  const experiment_folder folder;
  folder.write("sub/small.yaml", small_pipeline);
  EXPECT_EQ(
      said_of(folder, "experiment: e\npipeline: ./sub/smal.yaml\nvary: {timing: [none, event]}\n"),
      "exp.yaml:2:11: error: there is no pipeline file './sub/smal.yaml', looked for as "
      "'sub/smal.yaml' (did you mean 'small.yaml'?)\n"
      "    2 | pipeline: ./sub/smal.yaml\n"
      "      |           ^~~~~~~~~~~~~~~");
}

TEST(missing_pipelines, of_several_together_are_all_named) {
  const experiment_folder folder;
  const std::string text =
      said_of(folder, "experiment: e\ntogether: [{pipeline: a.yaml}, {pipeline: b.yaml}]\n");
  EXPECT_THAT(text, HasSubstr("exp.yaml:2:23: error: there is no pipeline file 'a.yaml'"));
  EXPECT_THAT(text, HasSubstr("exp.yaml:2:43: error: there is no pipeline file 'b.yaml'"));
}

TEST(a_pipeline_that_cannot_be_read, is_told_where_it_is_named) {
  const experiment_folder folder;
  folder.write("sub/small.yaml", small_pipeline);
  EXPECT_EQ(said_of(folder, "experiment: e\npipeline: sub\nvary: {timing: [none]}\n"),
            "exp.yaml:2:11: error: 'sub' cannot be read: sub: error: this is a folder; a file is "
            "expected\n"
            "    2 | pipeline: sub\n"
            "      |           ^~~");
}

// One kind of mistake must not hide another.

TEST(mistakes_of_every_kind, are_told_at_once) {
  const experiment_folder folder;
  folder.write("bad.yaml",
               "pipeline: bad\n"
               "params: {side: 4}\n"
               "stages:\n"
               "  - {name: a, kind: gqu, shape: [$side]}\n"
               "run: {velocity: 3}\n");
  const std::string text = said_of(folder,
                                   "experiment: e\n"
                                   "pipeline: bad.yaml\n"
                                   "trails: 5\n"
                                   "run: {wait: blok}\n"
                                   "params: {sied: 3}\n"
                                   "vary:\n"
                                   "  timing: [none, evnt]\n"
                                   "  in_flihgt: [1, 2]\n"
                                   "  side: [2, four]\n"
                                   "baseline: {timing: sync}\n");
  for (const char* expected :
       {"exp.yaml:3:1: error: unknown key 'trails'", "exp.yaml:4:13: error: unknown value 'blok'",
        "exp.yaml:5:10: error: the pipeline in 'bad.yaml' has no parameter 'sied'",
        "exp.yaml:7:18: error: unknown value 'evnt'",
        "exp.yaml:8:3: error: 'in_flihgt' is neither a setting nor a parameter",
        "exp.yaml:10:20: error: 'timing' does not take 'sync'",
        "bad.yaml:4:21: error: unknown kind 'gqu'",
        "bad.yaml:5:7: error: unknown key 'velocity'"}) {
    EXPECT_THAT(text, HasSubstr(expected));
  }
}

TEST(mistakes_of_a_pipeline, are_told_beside_those_of_a_grid_that_cannot_be_read) {
  const experiment_folder folder;
  folder.write("bad.yaml", "pipeline: bad\nstages:\n  - {name: a, kind: gqu}\n");
  for (const char* vary : {"vary: {timing: none, wait: [blok]}\n", "vary: {}\nrun: {wait: blok}\n",
                           "run: {wait: blok}\n", "configurations: [{wait: blok}, 3]\n"}) {
    const std::string text =
        said_of(folder, std::string("experiment: e\npipeline: bad.yaml\n") + vary);
    EXPECT_THAT(text, HasSubstr("exp.yaml:")) << vary;
    EXPECT_THAT(text, HasSubstr("error: unknown value 'blok'")) << vary;
    EXPECT_THAT(text, HasSubstr("bad.yaml:3:21: error: unknown kind 'gqu'")) << vary;
  }
}

TEST(mistakes_in_settings, are_told_beside_a_pipeline_that_is_not_there) {
  const experiment_folder folder;
  for (const char* vary :
       {"vary: {timing: [none, evnt]}\n", "configurations: [{name: a, timing: evnt}, {name: b}]\n",
        "together: [{pipeline: a.yaml, run: {timing: evnt}}, {pipeline: b.yaml}]\n"}) {
    const std::string text = said_of(
        folder, std::string("experiment: e\n") +
                    (std::string(vary).starts_with("together") ? "" : "pipeline: no.yaml\n") +
                    vary);
    EXPECT_THAT(text, HasSubstr("error: there is no pipeline file")) << vary;
    EXPECT_THAT(text, HasSubstr("error: unknown value 'evnt' for 'timing'")) << vary;
  }
}

TEST(a_key, that_is_neither_setting_nor_parameter_is_told_once) {
  EXPECT_EQ(said("vary: {timng: [none, event], btach: [1, 2], in_flight: [1, 2]}\n"),
            "exp.yaml:3:8: error: 'timng' is neither a setting nor a parameter of the pipeline in "
            "'small.yaml' (did you mean 'timing'?)\n"
            "    3 | vary: {timng: [none, event], btach: [1, 2], in_flight: [1, 2]}\n"
            "      |        ^~~~~\n"
            "exp.yaml:3:30: error: 'btach' is neither a setting nor a parameter of the pipeline in "
            "'small.yaml' (did you mean 'batch'?)\n"
            "    3 | vary: {timng: [none, event], btach: [1, 2], in_flight: [1, 2]}\n"
            "      |                              ^~~~~");
}

TEST(a_key, that_is_unknown_is_told_in_each_listed_configuration) {
  const std::string text = said("configurations: [{name: a, timng: none}, {name: b, timng: x}]\n");
  EXPECT_THAT(text, HasSubstr("exp.yaml:3:28: error: 'timng' is neither"));
  EXPECT_THAT(text, HasSubstr("exp.yaml:3:52: error: 'timng' is neither"));
}

TEST(a_key, that_is_both_setting_and_parameter_asks_for_another_name) {
  EXPECT_EQ(said_on("pipeline: p\nparams: {threads: 2}\nstages:\n"
                    "  - {name: a, kind: gpu, shape: [$threads]}\n",
                    "vary: {threads: [1, 2]}\n"),
            "exp.yaml:3:8: error: 'threads' is a setting, and also a parameter of the pipeline in "
            "'p.yaml'; rename the parameter, so that it is clear what varies\n"
            "    3 | vary: {threads: [1, 2]}\n"
            "      |        ^~~~~~~");
}

TEST(params, name_parameters_of_the_pipeline_only) {
  EXPECT_EQ(said("params: {strategy: serial, bacth: 2}\nvary: {timing: [none]}\n"),
            "exp.yaml:3:10: error: the pipeline in 'small.yaml' has no parameter 'strategy'; it is "
            "a setting: write it under 'run'\n"
            "    3 | params: {strategy: serial, bacth: 2}\n"
            "      |          ^~~~~~~~\n"
            "exp.yaml:3:28: error: the pipeline in 'small.yaml' has no parameter 'bacth' (did you "
            "mean 'batch'?)\n"
            "    3 | params: {strategy: serial, bacth: 2}\n"
            "      |                            ^~~~~");
}

TEST(a_wrong_value, is_shown_once_where_the_experiment_has_it) {
  EXPECT_EQ(said("vary: {timing: [none, evnt], in_flight: [1, 99]}\n"),
            "exp.yaml:3:23: error: unknown value 'evnt' for 'timing' (did you mean 'event'?)\n"
            "    3 | vary: {timing: [none, evnt], in_flight: [1, 99]}\n"
            "      |                       ^~~~\n"
            "exp.yaml:3:45: error: 'in_flight' must be from 1 to 64, found 99\n"
            "    3 | vary: {timing: [none, evnt], in_flight: [1, 99]}\n"
            "      |                                             ^~");
  EXPECT_EQ(said("vary: {batch: [1, many, 0]}\n"),
            "exp.yaml:3:19: error: 'shape' must be a list of whole numbers, such as [1, 3, 224, "
            "224], found 'many'\n"
            "    3 | vary: {batch: [1, many, 0]}\n"
            "      |                   ^~~~\n"
            "exp.yaml:3:25: error: each extent of 'shape' must be at least 1, found 0\n"
            "    3 | vary: {batch: [1, many, 0]}\n"
            "      |                         ^");
}

TEST(a_wrong_value, may_lack_the_backend) {
  EXPECT_EQ(said("vary: {batch: [1, {cuda: 32}]}\n"),
            "exp.yaml:3:8: error: parameter 'batch' has no value for the backend 'host' (given: "
            "cuda)\n"
            "    3 | vary: {batch: [1, {cuda: 32}]}\n"
            "      |        ^~~~~");
}

TEST(a_value_for_another_backend, is_not_missed_where_one_is_given) {
  EXPECT_EQ(said_on("pipeline: p\nparams: {n: {cuda: 2}}\nstages:\n"
                    "  - {name: a, kind: gpu, shape: [$n]}\n",
                    "params: {n: 4}\nvary: {timing: [none]}\n"),
            "");
}

const char* const wrong_pipeline =
    "pipeline: p\n"
    "params: {unused: 1}\n"
    "stages:\n"
    "  - {name: a, kind: gpo, shape: [2]}\n";

TEST(a_mistake_of_the_pipeline, is_shown_once_in_its_file) {
  EXPECT_EQ(said_on(wrong_pipeline, "vary: {timing: [none, event], in_flight: [1, 2]}\n"),
            "p.yaml:2:10: warning: parameter 'unused' is never used\n"
            "    2 | params: {unused: 1}\n"
            "      |          ^~~~~~\n"
            "p.yaml:4:21: error: unknown kind 'gpo' (known: copy, cuda_only, detect, flat, gpu, "
            "image_net, sink, work)\n"
            "    4 |   - {name: a, kind: gpo, shape: [2]}\n"
            "      |                     ^~~");
  EXPECT_EQ(said_on("pipeline: [\n", "vary: {anything: [1, 2]}\n"),
            "p.yaml:2:1: error: this list is not closed: a ',' or a ']' is missing");
}

TEST(a_mistake_of_a_pipeline, that_two_members_use_is_shown_once) {
  const experiment_folder folder;
  folder.write("p.yaml", wrong_pipeline);
  const std::string text = said_of(folder,
                                   "experiment: e\n"
                                   "together: [{name: a, pipeline: p.yaml}, {name: b, pipeline: "
                                   "./p.yaml}]\n");
  EXPECT_THAT(text, HasSubstr("p.yaml:4:21: error: unknown kind"));
  EXPECT_EQ(text.find("unknown kind"), text.rfind("unknown kind"));
}

TEST(a_mistake_of_a_pipeline, that_one_member_uses_is_shown) {
  const experiment_folder folder;
  folder.write("p.yaml", wrong_pipeline);
  folder.write("small.yaml", small_pipeline);
  EXPECT_THAT(said_of(folder,
                      "experiment: e\n"
                      "together: [{pipeline: p.yaml}, {pipeline: small.yaml}]\n"),
              HasSubstr("p.yaml:4:21: error: unknown kind"));
}

TEST(settings_that_make_no_sense_together, are_told_once_at_the_first_configuration_with_a_remedy) {
  EXPECT_EQ(said("vary:\n  strategy: [serial, async]\n  in_flight: [1, 2]\n"),
            "exp.yaml:5:18: error: configuration 'strategy=serial in_flight=2': in_flight: 2 makes "
            "no sense with strategy: serial, which ends each stage before it begins the next and "
            "so never has a second frame under way; use in_flight: 1, or strategy: async; or leave "
            "such configurations out with 'exclude'\n"
            "    5 |   in_flight: [1, 2]\n"
            "      |                  ^");
  const std::string text =
      said("vary:\n  strategy: [serial, async]\n  in_flight: [1, 2]\n  wait: [spin, block]\n");
  EXPECT_THAT(text, HasSubstr("error: configuration 'strategy=serial in_flight=2 wait=spin' and 1 "
                              "more: in_flight: 2 makes no sense"));
  EXPECT_EQ(text.find("makes no sense"), text.rfind("makes no sense"));
}

TEST(settings_that_make_no_sense_in_any_configuration, are_shown_where_they_are_set_for_all) {
  const std::string text =
      said("run: {strategy: serial, in_flight: 2}\nvary: {wait: [spin, block]}\n");
  EXPECT_THAT(text, HasSubstr("exp.yaml:3:25: error: in_flight: 2 makes no sense"));
  EXPECT_THAT(text, Not(HasSubstr("configuration")));
}

TEST(a_listed_configuration, that_makes_no_sense_is_shown_by_its_name) {
  EXPECT_EQ(said("configurations:\n  - {name: fine}\n"
                 "  - {name: hasty, strategy: serial, in_flight: 2}\n"),
            "exp.yaml:5:12: error: configuration 'hasty': in_flight: 2 makes no sense with "
            "strategy: serial, which ends each stage before it begins the next and so never has a "
            "second frame under way; use in_flight: 1, or strategy: async; or take it off the "
            "list\n"
            "    5 |   - {name: hasty, strategy: serial, in_flight: 2}\n"
            "      |            ^~~~~");
}

TEST(a_shape_that_does_not_fit, names_the_configuration_and_the_line_of_the_pipeline) {
  EXPECT_THAT(said_on("pipeline: p\n"
                      "params: {sizes: [2, 3]}\n"
                      "stages:\n"
                      "  - {name: a, kind: gpu, shape: $sizes}\n"
                      "  - {name: b, kind: flat, reads: a}\n",
                      "vary: {sizes: [[2, 3], [4]]}\n"),
              HasSubstr("exp.yaml:3:24: error: configuration 'sizes=[4]': flat takes [rows, "
                        "columns], but reads [4] (p.yaml:5)"));
}

TEST(memory_that_does_not_suffice, is_told_of_the_configuration_that_takes_it) {
  const std::string text =
      said("vary: {batch: [1, 100000000]}\n", {.device_memory_bytes = std::uint64_t{1} << 20});
  EXPECT_THAT(text, HasSubstr("exp.yaml:3:19: error: configuration 'batch=100000000': tensor "
                              "'image' is"));
}

TEST(a_warning, of_some_configurations_is_told_with_their_names_and_no_remedy) {
  const std::string text = said("vary: {timing: [none, sync], in_flight: [1, 2]}\n");
  EXPECT_THAT(text, HasSubstr("exp.yaml:3:45: warning: configuration 'timing=sync in_flight=2': "
                              "timing: sync with in_flight: 2 waits"));
  EXPECT_THAT(text, Not(HasSubstr("leave it out")));
}

TEST(a_member, that_makes_no_sense_is_shown_by_its_name) {
  const experiment_folder folder;
  folder.write("p.yaml", "pipeline: p\nstages:\n  - {name: a, kind: gpu, shape: [2]}\n");
  const std::string text =
      said_of(folder,
              "experiment: e\n"
              "together:\n"
              "  - {name: a, pipeline: p.yaml}\n"
              "  - {name: b, pipeline: p.yaml, run: {strategy: serial, in_flight: 2}}\n");
  EXPECT_THAT(text, HasSubstr("exp.yaml:4:12: error: member 'b': in_flight: 2 makes no sense"));
  EXPECT_EQ(text.find("makes no sense"), text.rfind("makes no sense"));
}

TEST(a_plugin, that_is_missing_is_told_once_without_what_follows_from_it) {
  const std::string text =
      said_on("pipeline: p\nplugins: lib/none.so\nstages:\n  - {name: a, kind: my.kind}\n",
              "vary: {timing: [none, event]}\n");
  EXPECT_THAT(text, HasSubstr("p.yaml:2:10: error: plug-in 'lib/none.so' is not there"));
  EXPECT_THAT(text, Not(HasSubstr("my.kind'")));
  EXPECT_EQ(text.find("plug-in"), text.rfind("plug-in"));
}

TEST(an_experiment_with_mistakes, is_planned_as_far_as_it_goes_without_saying_them_again) {
  const experiment_folder folder;
  folder.write("small.yaml", small_pipeline);
  const auto source = std::make_shared<const source_text>(
      "exp.yaml",
      "experiment: e\npipeline: small.yaml\nrun: {strategy: overlp}\n"
      "vary: {wait: [spin, slep], in_flight: 1}\n");
  diagnostics out;
  experiment_spec spec = read_experiment(source, out);
  const std::size_t read = out.all().size();
  EXPECT_EQ(read, 3U) << out.render();
  spec.directory = folder.path();
  stage_registry registry = test_registry();
  plan_experiment(spec, registry, {}, out);
  EXPECT_EQ(out.all().size(), read) << "the grid is not known";

  const auto other = std::make_shared<const source_text>(
      "exp.yaml",
      "experiment: e\npipeline: small.yaml\nrun: {strategy: overlp}\n"
      "vary: {wait: [spin, slep]}\n");
  diagnostics both;
  spec = read_experiment(other, both);
  spec.directory = folder.path();
  plan_experiment(spec, registry, {}, both);
  EXPECT_EQ(
      messages(both, severity::error),
      (std::vector<std::string>{"unknown value 'overlp' for 'strategy' (did you mean 'overlap'?)",
                                "unknown value 'slep' for 'wait' (known: spin, yield, block)"}));
}

TEST(an_experiment_as_pipeline, is_refused) {
  EXPECT_THAT(said_on("experiment: e\npipeline: p.yaml\n", "vary: {timing: [none]}\n"),
              HasSubstr("p.yaml:1:1: error: this file declares an experiment, not a pipeline"));
}

}  // namespace
}  // namespace graphline::testing
