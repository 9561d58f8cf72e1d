#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/device/cuda/cuda_device.hpp"
#include "stages/builtin.hpp"
#include "tests/stages/gemv/gemv_reference.hpp"
#include "tests/stages/network/stage_trial.hpp"

namespace graphline::test {

/// One slot's tensors in device memory.
struct slot {
  std::vector<memory> inputs;
  memory output;
  memory scratch;
  std::unique_ptr<device_work> work;
};

/// A device stage on the first `cuda` device, real or fake.
class cuda_trial : public testing::Test {
 protected:
  void open() {
    device_ = open_cuda_device(0);
    stream_ = device_->make_stream("trial", priority::normal);
  }

  void make(const std::string& kind, const std::string& yaml, std::vector<tensor_type> inputs) {
    make(kind, read_arguments(*builtin_.find(kind), yaml), std::move(inputs));
  }

  void make(const std::string& kind, arguments values, std::vector<tensor_type> inputs) {
    kind_ = builtin_.find(kind);
    values_ = std::move(values);
    inputs_ = std::move(inputs);
    diagnostics out;
    const stage_shape inferred = kind_->infer(values_, inputs_, out);
    out.throw_if_errors();
    output_ = inferred.outputs.at(0);
    stage_ = kind_->make_device.at("cuda")(
        *device_, {.name = "trial", .arguments = values_, .inputs = inputs_, .outputs = {output_}});
  }

  slot bind() {
    slot s;
    stage_tensors tensors;
    for (const tensor_type& type : inputs_) {
      s.inputs.push_back(device_->allocate(type.bytes()));
      tensors.inputs.push_back({s.inputs.back().data(), type});
    }
    s.output = device_->allocate(output_.bytes());
    tensors.outputs.push_back({s.output.data(), output_});
    if (stage_->scratch_bytes() > 0) s.scratch = device_->allocate(stage_->scratch_bytes());
    tensors.scratch = s.scratch.data();
    s.work = stage_->bind(tensors);
    return s;
  }

  void set_inputs(const slot& s, const std::vector<std::vector<float>>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t bytes = values[i].size() * sizeof(float);
      const memory staging = device_->allocate_pinned(bytes);
      std::memcpy(staging.data(), values[i].data(), bytes);
      stream_->copy(s.inputs[i].data(), staging.data(), bytes);
      device_->synchronize(wait_mode::block);
    }
  }

  std::vector<float> output(const slot& s) {
    const memory staging = device_->allocate_pinned(output_.bytes());
    stream_->copy(staging.data(), s.output.data(), output_.bytes());
    device_->synchronize(wait_mode::block);
    const auto* from = static_cast<const float*>(staging.data());
    return {from, from + output_.shape.elements()};
  }

  /// The same stage on the host.
  std::vector<float> on_host(const std::vector<std::vector<float>>& values) const {
    return stage_trial(*kind_, values_, inputs_).run(values);
  }

  /// Runs the stage once by itself and once from a graph, and compares both with the host.
  void expect_as_on_host(double limit, const std::string& what) {
    const slot s = bind();
    std::vector<std::vector<float>> values;
    for (const tensor_type& type : inputs_) {
      values.push_back(some_values(type.shape.elements(), values.size() + 1));
    }
    set_inputs(s, values);
    const std::vector<float> expected = on_host(values);
    s.work->enqueue(*stream_);
    EXPECT_LE(difference(output(s), expected), limit) << what;
    const auto graph = device_->capture(*stream_, [&] { s.work->enqueue(*stream_); });
    const auto executable = graph->instantiate();
    stream_->fill(s.output.data(), std::byte{0xff}, output_.bytes());
    stream_->launch(*executable);
    EXPECT_LE(difference(output(s), expected), limit) << what << ", from a graph";
  }

  /// Products with vectors of every kind of shape, by one kernel.
  void expect_fused_gemv_as_on_host() {
    for (const gemv_case& wanted : gemv_cases()) {
      make("gemv", "{method: fused}", {floats(wanted.a), floats(wanted.x)});
      expect_as_on_host(1e-5, to_string(wanted.a) + " x " + to_string(wanted.x));
    }
  }

  const stage_registry builtin_ = builtin_stages();
  const stage_kind* kind_ = nullptr;
  arguments values_;
  std::vector<tensor_type> inputs_;
  tensor_type output_;
  std::unique_ptr<device> device_;
  std::unique_ptr<stream> stream_;
  std::unique_ptr<device_stage> stage_;
};

}  // namespace graphline::test
