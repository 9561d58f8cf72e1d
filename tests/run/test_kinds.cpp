#include "tests/run/test_kinds.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>

#include "framework/plan/planner.hpp"

namespace graphline::testing_kinds {
namespace {

constexpr std::int64_t elements = 64;

template <class Inputs>
void mix_tensors(std::int64_t salt, const Inputs& inputs, const tensor_view& output,
                 std::int64_t frame) {
  for (std::int64_t e = 0; e < elements; ++e) {
    std::int64_t value = salt + frame;
    for (const auto& input : inputs) {
      value = static_cast<std::int64_t>(
          static_cast<std::uint64_t>(value) * 31U +
          static_cast<std::uint64_t>(input.template as<std::int64_t>()[e]));
    }
    output.as<std::int64_t>()[e] = value;
  }
}

class cpu_mix final : public cpu_stage {
 public:
  cpu_mix(const stage_config& config, hook h)
      : name_(config.name), salt_(config.arguments.integer("salt")), hook_(std::move(h)) {}
  void run(const cpu_call& call) override {
    if (hook_) hook_(name_, call.frame);
    mix_tensors(salt_, call.inputs, call.outputs[0], call.frame);
  }

 private:
  std::string name_;
  std::int64_t salt_;
  hook hook_;
};

class mix_work final : public device_work, public host_operation {
 public:
  mix_work(std::int64_t salt, stage_tensors tensors) : salt_(salt), tensors_(std::move(tensors)) {}
  void enqueue(stream& s) override { host_enqueue(s, *this); }
  std::string_view name() const noexcept override { return "mix"; }
  void run() override { mix_tensors(salt_, tensors_.inputs, tensors_.outputs[0], 0); }

 private:
  std::int64_t salt_;
  stage_tensors tensors_;
};

/// Tells two parts apart, the second of which leaves everything as it is.
class parted_work final : public device_work {
 public:
  parted_work(std::int64_t salt, const stage_tensors& tensors)
      : mix_(salt, tensors), settle_(tensors.outputs[0]) {}
  void enqueue(stream& s) override {
    mix_.enqueue(s);
    host_enqueue(s, settle_);
  }
  void enqueue_in_parts(stream& s, part_marker& marker) override {
    mix_.enqueue(s);
    marker.part_enqueued(s);
    host_enqueue(s, settle_);
    marker.part_enqueued(s);
  }

 private:
  struct settle final : host_operation {
    explicit settle(const tensor_view& t) : tensor(t) {}
    std::string_view name() const noexcept override { return "settle"; }
    void run() override { std::memmove(tensor.data, tensor.data, tensor.type.bytes()); }
    tensor_view tensor;
  };

  mix_work mix_;
  settle settle_;
};

/// Sleeps twice, so that other streams get their turn in between, then mixes.
class slow_work final : public device_work {
 public:
  slow_work(std::int64_t salt, const stage_tensors& tensors) : sleep_(salt), mix_(salt, tensors) {}
  void enqueue(stream& s) override {
    host_enqueue(s, sleep_);
    host_enqueue(s, sleep_);
    mix_.enqueue(s);
  }

 private:
  struct sleep final : host_operation {
    explicit sleep(std::int64_t ms) : milliseconds(ms) {}
    std::string_view name() const noexcept override { return "sleep"; }
    void run() override { std::this_thread::sleep_for(milliseconds); }
    std::chrono::milliseconds milliseconds;
  };

  sleep sleep_;
  mix_work mix_;
};

/// Fails at the execution its salt counts.
class failing_work final : public device_work, public host_operation {
 public:
  failing_work(std::int64_t at, const stage_tensors& /*tensors*/) : left_(at) {}
  void enqueue(stream& s) override { host_enqueue(s, *this); }
  std::string_view name() const noexcept override { return "doomed kernel"; }
  void run() override {
    if (--left_ == 0) throw std::runtime_error("the kernel went wrong");
  }

 private:
  std::int64_t left_;
};

/// A stage whose work is of that type.
template <class Work>
class stage_of final : public device_stage {
 public:
  explicit stage_of(std::int64_t salt) : salt_(salt) {}
  std::vector<stage_part> parts() const override {
    if constexpr (!std::is_same_v<Work, parted_work>) return {};
    return {{"0.mix", "an addition and a product"}, {"1.settle", ""}};
  }
  std::unique_ptr<device_work> bind(const stage_tensors& tensors) override {
    return std::make_unique<Work>(salt_, tensors);
  }

 private:
  std::int64_t salt_;
};

class copy_work final : public device_work {
 public:
  explicit copy_work(stage_tensors tensors) : tensors_(std::move(tensors)) {}
  void enqueue(stream& s) override {
    s.copy(tensors_.outputs[0].data, tensors_.inputs[0].data, tensors_.inputs[0].type.bytes());
  }

 private:
  stage_tensors tensors_;
};

class copy_stage final : public device_stage {
 public:
  std::unique_ptr<device_work> bind(const stage_tensors& tensors) override {
    return std::make_unique<copy_work>(tensors);
  }
};

stage_kind base_kind(std::string name, side on) {
  stage_kind kind;
  kind.name = std::move(name);
  kind.headline = "for tests";
  kind.on = on;
  kind.inputs = {{"x", "anything"}};
  kind.optional_inputs = 1;
  kind.repeat_last_input = true;
  kind.outputs = {{"y", "the mix"}};
  kind.parameters = {{.name = "salt",
                      .type = parameter_type::integer,
                      .help = "what is added",
                      .default_value = "1"}};
  return kind;
}

template <class Work>
stage_kind device_kind(const char* name) {
  stage_kind kind = base_kind(name, side::device);
  make_on(kind, "host", [](device&, const stage_config& c) {
    return std::make_unique<stage_of<Work>>(c.arguments.integer("salt"));
  });
  return kind;
}

prepared_stage prepared_mix() {
  return {.outputs = {{shape{elements}, dtype::int64}}};
}

}  // namespace

std::int64_t mixed(std::int64_t salt, const std::vector<std::int64_t>& inputs, std::int64_t frame) {
  auto value = static_cast<std::uint64_t>(salt + frame);
  for (const auto input : inputs) value = value * 31U + static_cast<std::uint64_t>(input);
  return static_cast<std::int64_t>(value);
}

void make_on(stage_kind& kind, const std::string& backend, device_stage_factory make) {
  if (std::ranges::find(kind.backends, backend) == kind.backends.end()) {
    kind.backends.push_back(backend);
  }
  kind.prepare = [before = kind.prepare, backend, make = std::move(make)](
                     const arguments& given, std::span<const tensor_type> inputs,
                     diagnostics& out) {
    prepared_stage result = before ? before(given, inputs, out) : prepared_mix();
    result.make_device[backend] = make;
    return result;
  };
}

void make_on_cpu(stage_kind& kind, cpu_stage_factory make) {
  kind.prepare = [make = std::move(make)](const arguments&, std::span<const tensor_type>,
                                          diagnostics&) {
    prepared_stage result = prepared_mix();
    result.make_cpu = make;
    return result;
  };
}

stage_registry make_registry(hook h) {
  stage_registry registry;
  auto cpu = base_kind("cpu_mix", side::cpu);
  make_on_cpu(
      cpu, [h = std::move(h)](const stage_config& c) { return std::make_unique<cpu_mix>(c, h); });
  registry.add(std::move(cpu));
  registry.add(device_kind<mix_work>("device_mix"));
  registry.add(device_kind<parted_work>("device_parts"));
  registry.add(device_kind<slow_work>("device_slow"));
  registry.add(device_kind<failing_work>("device_fail"));
  auto copy = base_kind("copy", side::device);
  copy.moves = true;
  copy.optional_inputs = 0;
  copy.repeat_last_input = false;
  copy.parameters.clear();
  copy.backends = {""};
  copy.prepare = [](const arguments&, std::span<const tensor_type> inputs, diagnostics&) {
    prepared_stage result{.outputs = {inputs[0]}};
    result.make_device[""] = [](device&, const stage_config&) {
      return std::make_unique<copy_stage>();
    };
    return result;
  };
  registry.add(std::move(copy));
  return registry;
}

stage_spec make_stage(const std::string& name, const std::string& kind,
                      const std::vector<std::string>& reads, std::int64_t salt) {
  stage_spec stage;
  stage.name = {name};
  stage.kind = {kind};
  for (const auto& tensor : reads) stage.reads.push_back({tensor});
  stage.parameters = node::mapping({{{"salt"}, salt}});
  return stage;
}

pipeline_spec pipeline_of(std::vector<stage_spec> stages, std::optional<std::int64_t> frames,
                          std::optional<std::int64_t> warmup) {
  pipeline_spec spec;
  spec.name = {"path"};
  spec.stages = std::move(stages);
  spec.run.frames = frames.value_or(spec.run.frames);
  spec.run.warmup = warmup.value_or(spec.run.warmup);
  return spec;
}

pipeline_spec chain() {
  auto spec =
      pipeline_of({make_stage("a", "device_mix", {"x"}), make_stage("b", "cpu_mix", {"a"})}, 6, 1);
  spec.inputs.push_back({.name = {"x"}, .type = {shape{64}, dtype::int64}});
  return spec;
}

void way::set(settings& run) const {
  run.strategy = how;
  run.in_flight = in_flight;
  run.graphs = graphs;
  run.wait = wait;
}

std::string name_of(const way& w) {
  return std::string(to_word(w.how)) + "_" + std::to_string(w.in_flight) + "_in_flight_graphs_" +
         std::string(to_word(w.graphs)) + "_" + std::string(to_word(w.wait));
}

std::vector<way> every_way(const std::vector<std::int64_t>& in_flight) {
  std::vector<way> list;
  for (const strategy how : {strategy::serial, strategy::async, strategy::overlap}) {
    for (const graph_mode graphs : {graph_mode::off, graph_mode::stage, graph_mode::frame}) {
      for (const std::int64_t count : in_flight) {
        const bool serial = how == strategy::serial;
        if (serial && (count > 1 || graphs == graph_mode::frame)) continue;
        list.push_back({how, count, graphs});
      }
    }
  }
  return list;
}

const stage_record& stage_named(const run_record& record, const std::string& name) {
  for (const auto& stage : record.stages) {
    if (stage.name == name) return stage;
  }
  throw std::out_of_range(name);
}

stream_choice streams_in(int round) {
  constexpr stream_choice turns[] = {{stream_rule::automatic},  {stream_rule::one},
                                     {stream_rule::per_stage},  {.at_most = 2},
                                     {stream_rule::per_branch}, {.at_most = 3}};
  return turns[static_cast<std::size_t>(round) % std::size(turns)];
}

plan plan_for_host(const pipeline_spec& spec, const stage_registry& registry) {
  diagnostics found;
  plan p = make_plan(spec, registry, {}, found);
  found.throw_if_errors();
  return p;
}

}  // namespace graphline::testing_kinds
