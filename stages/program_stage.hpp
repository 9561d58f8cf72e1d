#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/precision.hpp"
#include "framework/stage/shared_constants.hpp"
#include "framework/stage/stage.hpp"
#include "framework/stage/value_check.hpp"
#include "stages/nn/program/program.hpp"

namespace graphline {

/// A program's constants in device memory: in a block of their own, or shared.
struct program_weights {
  memory block;
  std::shared_ptr<shared_constants> shared;
  std::vector<std::byte*> addresses;  ///< as in `nn::program_memory`

  program_weights() = default;

  /// Takes device memory that contains the constants at their offsets.
  program_weights(const nn::program& p, memory constants)
      : block(std::move(constants)), addresses(p.weights_in(block.at(0))) {}

  /// Shares constants that `written`, in host memory, contains at their offsets.
  program_weights(const nn::program& p, std::byte* written, std::shared_ptr<shared_constants> with)
      : shared(std::move(with)), addresses(p.weights_in(written)) {
    std::vector<std::span<const std::byte>> contents;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      if (addresses[i] != nullptr) contents.emplace_back(addresses[i], p.buffers[i].bytes);
    }
    const std::vector<std::byte*> kept = shared->keep(contents);
    auto next = kept.begin();
    for (std::byte*& address : addresses) {
      if (address != nullptr) address = *next++;
    }
  }
};

/// The steps of a program, bound to the memory of one slot.
template <class Program>
class program_work final : public device_work, public value_check {
 public:
  /// `checks` is pinned memory with the numbers of the program's checks.
  program_work(const Program& program, nn::program_memory where, memory checks)
      : program_(program), checks_(std::move(checks)) {
    std::fill_n(numbers().begin(), program.checks.size(), 0.0F);
    where.checks = numbers().data();
    steps_ = program.bind(where);
  }

  void enqueue(stream& s) override {
    for (const auto& step : steps_) Program::enqueue(s, step);
  }

  void enqueue_in_parts(stream& s, part_marker& marker) override {
    std::size_t step = 0;
    for (const nn::program_part& part : program_.parts) {
      for (; step < part.end_steps; ++step) Program::enqueue(s, steps_[step]);
      marker.part_enqueued(s);
    }
  }

  std::string take_problem() override { return program_.take_problem(numbers()); }

 private:
  std::span<float> numbers() const {
    return {static_cast<float*>(checks_.data()), program_.checks.size()};
  }

  const Program& program_;
  memory checks_;
  std::vector<typename Program::bound_step> steps_;
};

/// A device stage that runs a program.
template <class Program>
class program_stage final : public device_stage {
 public:
  explicit program_stage(device& d, Program program, program_weights weights = {},
                         precision arithmetic = precision::float32)
      : device_(d),
        program_(std::move(program)),
        weights_(std::move(weights)),
        arithmetic_(arithmetic) {}

  std::size_t scratch_bytes() const override { return program_.scratch_bytes; }

  std::vector<stage_part> parts() const override {
    std::vector<stage_part> all;
    for (const nn::program_part& part : program_.parts) {
      all.push_back({part.name, part.choice, part.cost, arithmetic_});
    }
    return all;
  }

  std::unique_ptr<device_work> bind(const stage_tensors& tensors) override {
    const nn::program_memory where{.inputs = tensors.inputs,
                                   .outputs = tensors.outputs,
                                   .weights = weights_.addresses,
                                   .scratch = static_cast<std::byte*>(tensors.scratch)};
    memory checks;
    if (!program_.checks.empty()) {
      checks = device_.allocate_pinned(program_.checks.size() * sizeof(float));
    }
    return std::make_unique<program_work<Program>>(program_, where, std::move(checks));
  }

 private:
  device& device_;
  Program program_;
  program_weights weights_;
  precision arithmetic_;
};

}  // namespace graphline
