// Host cost of launching a device stage through Graphline, compared with the bare calls: a graph
// launch (timing `none`), and a graph launch between two timed events (`event`). On `cuda` the bare
// calls are CUDA's, on `host` those of the device interface. Variants are interleaved in random
// order; results are medians over the blocks. Prints JSON.
//
//   launch_cost_bench [--device DEVICE] [--blocks N] [--launches N]

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "framework/base/clock.hpp"
#include "framework/run/execute/stage_runner.hpp"
#include "stages/one_part_stage.hpp"
#include "tests/bench/launch_cost/bare_calls.hpp"
#include "tests/bench/program.hpp"

namespace launch_cost {
namespace {

using namespace graphline;
using nlohmann::ordered_json;

struct settings_given {
  std::string device = "auto";
  int blocks = 200;
  int launches = 50;  ///< of a block; few enough that no device's queue is ever full
};

class fill_stage final : public device_stage {
 public:
  std::unique_ptr<device_work> bind(const stage_tensors& tensors) override {
    return std::make_unique<one_part_work>([to = tensors.outputs.at(0)](stream& s) {
      s.fill(to.data, std::byte{1}, to.type.bytes());
    });
  }
};

stage_spec fill_spec(const char* name, const char* reads, const char* writes) {
  stage_spec stage;
  stage.name = {name};
  stage.kind = {"fill"};
  stage.reads = {{reads}};
  stage.writes = {{writes}};
  return stage;
}

/// A kind of stage for every device: it fills a kilobyte, the least work that makes a graph.
stage_registry fill_registry() {
  stage_kind kind;
  kind.name = "fill";
  kind.headline = "Sets every byte of a tensor";
  kind.on = side::device;
  kind.inputs = {{"input", "What must come before."}};
  kind.outputs = {{"output", "What is set."}};
  kind.backends = {""};
  kind.prepare = [](const arguments&, std::span<const tensor_type> inputs, diagnostics&) {
    prepared_stage result{.outputs = {inputs.front()}};
    result.make_device[""] = [](device&, const stage_config&) {
      return std::make_unique<fill_stage>();
    };
    return result;
  };
  stage_registry registry;
  registry.add(std::move(kind));
  return registry;
}

/// Three such stages in one stream; the last one also ends the frame. `registry` must outlive the
/// plan.
plan fill_plan(const stage_registry& registry, const std::string& backend) {
  pipeline_spec spec;
  spec.name = {"fills"};
  input_spec input;
  input.name = {"start"};
  input.type = {shape({256}), dtype::float32};
  spec.inputs = {input};
  spec.stages = {fill_spec("first", "start", "a"), fill_spec("inner", "a", "b"),
                 fill_spec("last", "b", "c")};
  diagnostics found;
  plan result = make_plan(spec, registry, {.backend = backend}, found);
  found.throw_if_errors();
  return result;
}

/// A way to launch a stage, and the nanoseconds per launch of each block.
struct variant {
  const char* name;
  std::function<void(std::int64_t index)> launch;
  std::vector<double> samples;

  double median() const {
    std::vector<double> sorted = samples;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    return *middle;
  }
};

/// Launches a stage like Graphline's executors.
class framework_launch {
 public:
  framework_launch(device& d, prepared_pipeline& pipeline, bound_stage& stage, timing_method method,
                   std::int64_t launches)
      : stage_(stage),
        kept_(pipeline.planned(), pipeline.parts(), d, method, launches, now()),
        runner_(d, wait_mode::block, kept_) {}

  void operator()(std::int64_t index) { runner_.enqueue(stage_, {index, index}); }

 private:
  bound_stage& stage_;
  recording kept_;
  stage_runner runner_;
};

void run_block(device& d, variant& v, int launches) {
  d.synchronize(wait_mode::block);
  v.launch(0);  // the first launch after a wait wakes the device
  const nanoseconds begin = now();
  for (int i = 0; i < launches; ++i) v.launch(i);
  const nanoseconds end = now();
  v.samples.push_back(static_cast<double>(end - begin) / launches);
}

bare_calls calls_of(const device& d, const bound_stage& stage) {
#ifdef GRAPHLINE_CUDA
  if (d.properties().backend == "cuda") return cuda_calls(stage);
#endif
  static_cast<void>(d);
  return {[&stage] { stage.on->launch(*stage.variants[0].executable); },
          [&stage] {
            stage.on->record(*stage.begin);
            stage.on->launch(*stage.variants[0].executable);
            stage.on->record(*stage.end);
          }};
}

ordered_json measure(const settings_given& given) {
  const auto d = builtin_devices().open({.name = given.device});
  const stage_registry registry = fill_registry();
  prepared_pipeline pipeline(fill_plan(registry, d->properties().backend), *d, nullptr);
  auto& stages = pipeline.slots().front().stages;
  bound_stage& inner = stages.at(1);
  const bare_calls bare = calls_of(*d, inner);
  framework_launch none(*d, pipeline, inner, timing_method::none, given.launches);
  framework_launch event(*d, pipeline, inner, timing_method::event, given.launches);
  framework_launch last(*d, pipeline, stages.back(), timing_method::event, given.launches);
  std::vector<variant> variants = {
      {"bare_launch", [&](std::int64_t) { bare.launch(); }, {}},
      {"bare_launch_between_events", [&](std::int64_t) { bare.launch_between_events(); }, {}},
      {"graphline_none", [&](std::int64_t i) { none(i); }, {}},
      {"graphline_event", [&](std::int64_t i) { event(i); }, {}},
      {"graphline_event_last_stage", [&](std::int64_t i) { last(i); }, {}}};

  std::mt19937 order(1);
  std::vector<std::size_t> turns(variants.size());
  std::iota(turns.begin(), turns.end(), std::size_t{0});
  for (auto& v : variants) run_block(*d, v, given.launches);  // warm-up
  for (auto& v : variants) v.samples.clear();
  for (int block = 0; block < given.blocks; ++block) {
    std::shuffle(turns.begin(), turns.end(), order);
    for (const std::size_t turn : turns) run_block(*d, variants[turn], given.launches);
  }
  d->synchronize(wait_mode::block);

  ordered_json result = {{"schema", "graphline.launch_cost/1"},
                         {"device", d->properties().name},
                         {"unit", "ns"},
                         {"launches_a_block", given.launches}};
  for (const auto& v : variants) {
    result["variants"][v.name] = {{"median", v.median()}, {"samples", v.samples}};
  }
  result["ratio_none"] = variants[2].median() / variants[0].median();
  result["ratio_event"] = variants[3].median() / variants[1].median();
  return result;
}

}  // namespace
}  // namespace launch_cost

int main(int argc, char** argv) {
  CLI::App program("Host cost of launching a device stage, beside the bare calls");
  launch_cost::settings_given given;
  program.add_option("--device", given.device, "auto, host, cuda or cuda:N");
  program.add_option("--blocks", given.blocks, "Blocks of each variant")
      ->check(CLI::PositiveNumber);
  program.add_option("--launches", given.launches, "Launches of a block")
      ->check(CLI::Range(1, 500));
  return graphline::run_program(program, argc, argv, [&] {
    std::printf("%s\n", launch_cost::measure(given).dump(1).c_str());
    return 0;
  });
}
