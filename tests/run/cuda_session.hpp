#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/device/cuda/cuda_device.hpp"
#include "framework/plan/planner.hpp"
#include "tests/device/cuda/fake/fake_cuda.hpp"
#include "tests/run/test_kinds.hpp"

namespace graphline::testing_kinds {

/// How the next kernel that the device carries out ends; those after it end well.
inline std::atomic<cudaError_t> next_kernel_ends{cudaSuccess};

/// What `device_parts` does on the host device, as two kernels.
class kernel_work final : public device_work {
 public:
  kernel_work(std::int64_t salt, stage_tensors tensors)
      : salt_(salt), tensors_(std::move(tensors)) {}

  void enqueue(stream& s) override {
    launch(s, "mix", operands(), [this] { mix(); });
    launch(s, "settle", {}, [] {});
  }

  void enqueue_in_parts(stream& s, part_marker& marker) override {
    launch(s, "mix", operands(), [this] { mix(); });
    marker.part_enqueued(s);
    launch(s, "settle", {}, [] {});
    marker.part_enqueued(s);
  }

 private:
  template <class Kernel>
  static void launch(stream& s, const char* name, std::vector<const void*> operands,
                     Kernel kernel) {
    const auto handle = static_cast<cudaStream_t>(s.native());
    const auto work = [kernel] {
      kernel();
      return next_kernel_ends.exchange(cudaSuccess);
    };
    const auto status = fake_cuda::launch_kernel(handle, name, work, std::move(operands));
    if (status != cudaSuccess) throw run_error("the kernel was not launched");
  }

  std::vector<const void*> operands() const {
    std::vector<const void*> all{tensors_.outputs[0].data};
    for (const auto& input : tensors_.inputs) all.push_back(input.data);
    return all;
  }

  void mix() const {
    auto* const output = tensors_.outputs[0].as<std::int64_t>();
    for (std::size_t e = 0; e < 64; ++e) {
      std::vector<std::int64_t> values;
      for (const auto& input : tensors_.inputs) values.push_back(input.as<std::int64_t>()[e]);
      output[e] = mixed(salt_, values, 0);
    }
  }

  std::int64_t salt_;
  stage_tensors tensors_;
};

class kernel_stage final : public device_stage {
 public:
  explicit kernel_stage(std::int64_t salt) : salt_(salt) {}
  std::vector<stage_part> parts() const override { return {{"0.mix", ""}, {"1.settle", ""}}; }
  std::unique_ptr<device_work> bind(const stage_tensors& tensors) override {
    return std::make_unique<kernel_work>(salt_, tensors);
  }

 private:
  std::int64_t salt_;
};

inline stage_registry kinds(hook h = {}) {
  auto registry = make_registry(std::move(h));
  stage_kind kind = *registry.find("device_parts");
  kind.name = "kernels";
  make_on(kind, "cuda", [](device&, const stage_config& c) {
    return std::make_unique<kernel_stage>(c.arguments.integer("salt"));
  });
  registry.add(std::move(kind));
  return registry;
}

inline plan plan_for(const pipeline_spec& spec, const stage_registry& registry,
                     const std::string& backend) {
  diagnostics found;
  plan p = make_plan(spec, registry, {.backend = backend}, found);
  found.throw_if_errors();
  return p;
}

/// Two GPUs, a and b, and a plan for them.
struct two_gpus {
  std::unique_ptr<graphline::device> a = open_cuda_device(0);
  std::unique_ptr<graphline::device> b = open_cuda_device(1);

  device_group group() const { return device_group({a.get(), b.get()}); }

  static plan plan_for(pipeline_spec spec, const stage_registry& registry) {
    spec.devices = {{{"a"}, {"cuda:0"}}, {{"b"}, {"cuda:1"}}};
    plan_target target{.backend = "cuda"};
    target.with_device = [](const auto&) { return plan_target{.backend = "cuda"}; };
    target.why_apart = [](const auto& device, const auto& other) {
      return device_list({cuda_backend()}).why_apart(device, other);
    };
    diagnostics found;
    plan p = make_plan(spec, registry, target, found);
    found.throw_if_errors();
    return p;
  }
};

/// What a `fake_session` stands on.
struct own_cuda {
  explicit own_cuda(hook h) : registry(kinds(std::move(h))) {}

  stage_registry registry;
  std::unique_ptr<graphline::device> cuda = open_cuda_device(0);
};

/// A session with these kinds on a `cuda` device of its own.
class fake_session : private own_cuda, public session {
 public:
  explicit fake_session(const pipeline_spec& spec, hook h = {})
      : own_cuda(std::move(h)), session(plan_for(spec, registry, "cuda"), *cuda) {}
};

/// Sessions over the fake of the CUDA runtime, fresh for each test.
class cuda_session : public testing::Test {
 protected:
  void SetUp() override { fake_cuda::reset(); }
  void TearDown() override { fake_cuda::reset(); }

  /// Forks on the device, with CPU stages before, beside and behind it.
  static pipeline_spec forked(graph_mode graphs, strategy how, std::int64_t in_flight) {
    auto spec = pipeline_of(
        {make_stage("read", "cpu_mix", {}, 3), make_stage("trunk", "kernels", {"read"}, 5),
         make_stage("aside", "cpu_mix", {}, 7), make_stage("left", "kernels", {"trunk"}, 11),
         make_stage("right", "kernels", {"trunk", "aside"}, 13),
         make_stage("alone", "kernels", {}, 17),
         make_stage("join", "cpu_mix", {"left", "right"}, 19)});
    spec.stages[4].priority = level_of(priority::high);
    spec.run.graphs = graphs;
    spec.run.strategy = how;
    spec.run.in_flight = in_flight;
    spec.run.frames = 9;
    spec.run.warmup = 2;
    return spec;
  }
};

}  // namespace graphline::testing_kinds
