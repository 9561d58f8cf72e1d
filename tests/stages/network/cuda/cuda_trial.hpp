#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/device/cuda/cuda_device.hpp"
#include "stages/builtin.hpp"
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
    staging_ = device_->allocate_pinned(1 << 20);
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
      ASSERT_LE(values[i].size() * sizeof(float), staging_.bytes());
      std::memcpy(staging_.data(), values[i].data(), values[i].size() * sizeof(float));
      stream_->copy(s.inputs[i].data(), staging_.data(), values[i].size() * sizeof(float));
      device_->synchronize(wait_mode::block);
    }
  }

  std::vector<float> output(const slot& s) {
    stream_->copy(staging_.data(), s.output.data(), output_.bytes());
    device_->synchronize(wait_mode::block);
    const auto* from = static_cast<const float*>(staging_.data());
    return {from, from + output_.shape.elements()};
  }

  /// The same stage on the host.
  std::vector<float> on_host(const std::vector<std::vector<float>>& values) const {
    return stage_trial(*kind_, values_, inputs_).run(values);
  }

  const stage_registry builtin_ = builtin_stages();
  const stage_kind* kind_ = nullptr;
  arguments values_;
  std::vector<tensor_type> inputs_;
  tensor_type output_;
  std::unique_ptr<device> device_;
  std::unique_ptr<stream> stream_;
  memory staging_;
  std::unique_ptr<device_stage> stage_;
};

}  // namespace graphline::test
