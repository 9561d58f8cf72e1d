#include <gmock/gmock.h>

#include "framework/base/error.hpp"
#include "framework/plan/placement.hpp"
#include "tests/plan/plan_testing.hpp"

namespace graphline::plan_testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A spec with the devices a, b and c, and stages on them.
struct on_devices {
  explicit on_devices(spec_builder made) : spec(std::move(made).spec) {
    for (const char* name : {"a", "b", "c"}) spec.devices.push_back({{name}, {name}});
  }

  on_devices& on(const std::string& stage, const std::string& device) {
    for (stage_spec& s : spec.stages) {
      if (s.name.text == stage) s.on.text = device;
    }
    return *this;
  }

  /// @param others Backend of devices other than "a", which is `host`.
  plan planned(const std::string& others = "host") {
    plan_target target;
    target.with_device = [&](const std::string& name) {
      return plan_target{.backend = name == "a" ? "host" : others};
    };
    plan p = make_plan(spec, registry, target, out);
    EXPECT_FALSE(out.has_errors()) << out.render();
    return p;
  }

  std::string refusal() {
    make_plan(spec, registry, {}, out);
    return out.render();
  }

  stage_registry registry = test_registry();
  pipeline_spec spec;
  diagnostics out;
};

TEST(devices, have_streams_and_copies_of_their_own) {
  const plan p = on_devices(spec_builder()
                                .input("x", {4})
                                .stage("first", "gpu", {"x"})
                                .stage("second", "gpu", {"first"})
                                .stage("third", "gpu", {"first"})
                                .stage("last", "work", {"second", "third"}))
                     .on("second", "b")
                     .on("third", "b")
                     .planned();
  EXPECT_THAT(names_of(p.stages), ElementsAre("first", "copy:first@b", "second", "copy:second@cpu",
                                              "third", "copy:third@cpu", "last"));
  EXPECT_EQ(stage_of(p, "first").device, 0U);
  EXPECT_EQ(stage_of(p, "copy:first@b").device, 1U);
  EXPECT_EQ(stage_of(p, "copy:second@cpu").device, 1U);
  EXPECT_EQ(tensor_of(p, "first").device, 0U);
  EXPECT_EQ(tensor_of(p, "first@b").device, 1U);
  for (const planned_stage& stage : p.stages) {
    if (stage.on == side::device) {
      EXPECT_EQ(p.streams[stage.stream].device, stage.device);
      EXPECT_TRUE(p.streams[stage.stream].name.starts_with(p.devices[stage.device].name));
    }
  }
  EXPECT_EQ(stage_of(p, "copy:first@b").waits.front().how, satisfied_by::event_wait);
  const placement placed = place_buffers(p, {});
  EXPECT_EQ(placed.device_blocks.size(), 3U);
  EXPECT_GT(placed.device_blocks[0], 0U);
  EXPECT_GT(placed.device_blocks[1], 0U);
  EXPECT_EQ(placed.device_blocks[2], 0U);
}

TEST(devices, of_different_backends_exchange_tensors_through_the_cpu) {
  const plan p = on_devices(spec_builder()
                                .input("x", {4})
                                .stage("first", "gpu", {"x"})
                                .stage("second", "gpu", {"first"})
                                .stage("last", "work", {"first"}))
                     .on("second", "b")
                     .planned("cuda");
  EXPECT_THAT(names_of(p.stages),
              ElementsAre("first", "copy:first@cpu", "copy:first@b", "second", "last"));
  const planned_stage& in = stage_of(p, "copy:first@b");
  EXPECT_EQ(stage_of(p, "copy:first@cpu").device, 0U);
  EXPECT_EQ(in.device, 1U);
  EXPECT_EQ(p.tensors[in.reads.front()].name, "first@cpu");
  EXPECT_EQ(in.waits.front().how, satisfied_by::completion);
  EXPECT_TRUE(stage_of(p, "copy:first@cpu").host_waits);
  EXPECT_EQ(p.devices[0].apart[1], "they are of different kinds");
}

/// Three GPUs, of which the last has no peer access to the others.
plan_target three_gpus() {
  plan_target target{.backend = "cuda"};
  target.with_device = [](const std::string& name) {
    return plan_target{.backend = "cuda", .present = name != "cuda:7"};
  };
  target.why_apart = [](const std::string& device, const std::string& other) {
    const bool last = device == "cuda:2" || other == "cuda:2";
    return last ? std::string("no peer access") : std::string();
  };
  return target;
}

TEST(devices, of_cuda_exchange_tensors_directly_where_they_have_peer_access) {
  on_devices on(spec_builder()
                    .input("x", {4})
                    .stage("first", "gpu", {"x"})
                    .stage("second", "gpu", {"first"})
                    .stage("third", "gpu", {"first"}));
  on.spec.devices = {{{"a"}, {"cuda"}}, {{"b"}, {"cuda:1"}}, {{"c"}, {"cuda:2"}}};
  on.on("second", "b").on("third", "c");
  const plan p = make_plan(on.spec, on.registry, three_gpus(), on.out);
  ASSERT_FALSE(on.out.has_errors()) << on.out.render();
  EXPECT_THAT(names_of(p.stages), ElementsAre("first", "copy:first@b", "copy:first@cpu",
                                              "copy:first@c", "second", "third"));
  EXPECT_EQ(stage_of(p, "copy:first@b").waits.front().how, satisfied_by::event_wait);
  EXPECT_EQ(stage_of(p, "copy:first@c").waits.front().how, satisfied_by::completion);
  EXPECT_TRUE(copies_from_peer(p, stage_of(p, "copy:first@b")));
  EXPECT_FALSE(copies_from_peer(p, stage_of(p, "copy:first@c")));
  EXPECT_THAT(p.devices[0].apart, ElementsAre("", "", "no peer access"));
}

TEST(devices, of_cuda_that_are_not_there_are_planned_without_peer_access) {
  on_devices on(spec_builder().input("x", {4}).stage("first", "gpu", {"x"}));
  on.spec.devices = {{{"a"}, {"cuda:7"}}, {{"b"}, {"cuda:1"}}, {{"c"}, {"host"}}};
  plan_target target = three_gpus();
  const plan p = make_plan(on.spec, on.registry, target, on.out);
  EXPECT_THAT(p.devices[0].apart[1], HasSubstr("is not known here"));
  target.why_apart = {};
  on.spec.devices[0].device.text = "cuda:0";
  const plan q = make_plan(on.spec, on.registry, target, on.out);
  EXPECT_THAT(q.devices[1].apart[0], HasSubstr("is not known here"));
}

TEST(devices, an_input_is_on_the_device_of_its_first_reader) {
  const plan p =
      on_devices(
          spec_builder().input("x", {4}).stage("one", "gpu", {"x"}).stage("two", "gpu", {"x"}))
          .on("one", "c")
          .planned();
  EXPECT_EQ(tensor_of(p, "x").device, 2U);
  EXPECT_THAT(names_of(p.stages), ElementsAre("copy:x@a", "one", "two"));
}

TEST(devices, a_declared_copy_runs_on_the_device_of_what_it_reads) {
  const plan p = on_devices(spec_builder()
                                .input("x", {4})
                                .stage("net", "gpu", {"x"})
                                .stage("out", "copy", {"net"})
                                .stage("in", "copy", {"out"})
                                .stage("last", "gpu", {"in"}))
                     .on("net", "b")
                     .on("in", "c")
                     .on("last", "c")
                     .planned();
  EXPECT_THAT(names_of(p.stages), ElementsAre("net", "out", "in", "last"));
  EXPECT_EQ(stage_of(p, "out").device, 1U);
  EXPECT_EQ(stage_of(p, "in").device, 2U);
  on_devices unfinished(spec_builder().stage("out", "copy", {}));
  EXPECT_THAT(unfinished.refusal(), HasSubstr("error"));
}

TEST(devices, texts_say_what_is_wrong_with_them) {
  const auto one = spec_builder().input("x", {4}).stage("net", "gpu", {"x"});
  const auto cpu = spec_builder().input("x", {4}).stage("net", "work", {"x"});
  EXPECT_THAT(on_devices(one).on("net", "aa").refusal(),
              HasSubstr("stage 'net' runs on 'aa', which is not among the 'devices' (known: a, b, "
                        "c)"));
  EXPECT_THAT(on_devices(cpu).on("net", "b").refusal(),
              HasSubstr("no effect on stage 'net': it runs on the CPU; remove it"));
  EXPECT_THAT(on_devices(cpu).on("net", "rank01").refusal(),
              HasSubstr("no effect on stage 'net': it runs on the CPU; ranks are rank0, rank1"));
  on_devices none(one);
  none.spec.devices.clear();
  EXPECT_THAT(none.on("net", "b").refusal(),
              HasSubstr("stage 'net' runs on 'b', but the pipeline declares no 'devices'"));
  on_devices frame(one);
  frame.spec.run.graphs = graph_mode::frame;
  EXPECT_THAT(frame.refusal(), HasSubstr("graphs: frame cannot run on several devices"));
  on_devices reserved(one);
  reserved.spec.devices[1].name.text = "cpu";
  EXPECT_THAT(reserved.refusal(), HasSubstr("a device cannot have the name 'cpu'"));
  on_devices threads(one);
  threads.spec.devices[1].threads = 2;
  threads.registry = test_registry();
  diagnostics out;
  plan_target target;
  target.with_device = [](const std::string& name) {
    return plan_target{.backend = name == "a" ? "host" : "cuda"};
  };
  make_plan(threads.spec, threads.registry, target, out);
  EXPECT_THAT(out.render(), HasSubstr("'threads' has no effect on b, only on host"));
  threads.spec.devices[1] = {{"b"}, {"cuda"}};
  threads.spec.devices[2] = {{"c"}, {"cuda:0"}};
  make_plan(threads.spec, threads.registry, target, out);
  EXPECT_THAT(out.render(), HasSubstr("devices 'b' and 'c' are both cuda:0; declare it once"));
  target.chosen = true;
  make_plan(on_devices(one).spec, threads.registry, target, out);
  EXPECT_THAT(out.render(), HasSubstr("--device does not apply"));
}

}  // namespace
}  // namespace graphline::plan_testing
