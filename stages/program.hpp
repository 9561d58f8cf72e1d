#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/precision.hpp"
#include "framework/stage/stage.hpp"

namespace graphline {

/// A piece of scratch memory that is in use from one step of a program to another, both included.
struct scratch_block {
  std::size_t bytes = 0;
  std::size_t first = 0;
  std::size_t last = 0;
};

struct scratch_layout {
  std::vector<std::size_t> offsets;  ///< per block, aligned to 256 bytes
  std::size_t bytes = 0;             ///< of all together
};

/// Places blocks so that those in use at the same time do not overlap: largest first, each at the
/// lowest offset that is free during its time.
scratch_layout lay_out_scratch(const std::vector<scratch_block>& blocks);

/// Where a buffer of a program lies once the program is bound.
enum class buffer_place {
  input,    ///< a tensor the stage reads
  output,   ///< one it writes
  weights,  ///< at `offset` in the stage's weights
  scratch,  ///< at `offset` in the slot's scratch
};

struct program_buffer {
  buffer_place place = buffer_place::scratch;
  std::size_t bytes = 0;
  std::size_t tensor = 0;  ///< which of the stage's inputs or outputs
  std::size_t offset = 0;
  std::optional<std::size_t> within = {};  ///< it is the part of another buffer at `offset`
};

/// Layers computed as one, or a whole stage, and the steps that do it.
struct program_part {
  std::string name;    ///< "0.conv2d+1.gelu"
  std::string choice;  ///< "cuDNN engine 8, 1.5 MiB workspace"
  graphline::cost cost;
  std::size_t end_steps = 0;  ///< it ends before this step; the part after it begins there
};

/// A stage's work as a list of steps on buffers, apart from what a step is on its device.
struct program {
  std::vector<program_buffer> buffers;
  std::vector<program_part> parts;
  std::size_t weights_bytes = 0;
  std::size_t scratch_bytes = 0;

  std::size_t add_buffer(buffer_place place, std::size_t bytes, std::size_t tensor = 0);

  /// Adds a buffer that is part of another.
  std::size_t add_part_of(std::size_t whole, std::size_t offset, std::size_t bytes);

  /// Gives every buffer its offset, aligned to 256 bytes: weights one after the other, scratch
  /// reused by lifetime, which is from the first to the last use. `uses` has for each step the
  /// buffers it touches.
  void place_buffers(const std::vector<std::vector<std::size_t>>& uses);

  /// Where a buffer begins.
  std::byte* address_of(std::size_t buffer, const stage_tensors& tensors, std::byte* weights) const;
};

/// The steps of a program on one slot's memory; `enqueue_step(stream, step)` enqueues one.
template <class BoundStep>
class program_work final : public device_work {
 public:
  program_work(std::vector<BoundStep> steps, const std::vector<program_part>& parts)
      : steps_(std::move(steps)), parts_(parts) {}

  void enqueue(stream& s) override {
    for (const BoundStep& step : steps_) enqueue_step(s, step);
  }

  void enqueue_in_parts(stream& s, part_marker& marker) override {
    std::size_t step = 0;
    for (const program_part& part : parts_) {
      for (; step < part.end_steps; ++step) enqueue_step(s, steps_[step]);
      marker.part_enqueued(s);
    }
  }

 private:
  std::vector<BoundStep> steps_;
  const std::vector<program_part>& parts_;
};

/// A stage that carries out a program, whose `bind(tensors, weights)` gives its steps on memory.
template <class Program>
class program_stage final : public device_stage {
 public:
  explicit program_stage(Program program, memory weights = {},
                         precision arithmetic = precision::float32)
      : program_(std::move(program)), weights_(std::move(weights)), arithmetic_(arithmetic) {}

  std::size_t scratch_bytes() const override { return program_.scratch_bytes; }

  std::vector<stage_part> parts() const override {
    std::vector<stage_part> all;
    for (const program_part& part : program_.parts) {
      all.push_back({part.name, part.choice, part.cost, arithmetic_});
    }
    return all;
  }

  std::unique_ptr<device_work> bind(const stage_tensors& tensors) override {
    return std::make_unique<program_work<typename Program::bound_step>>(
        program_.bind(tensors, weights_.at(0)), program_.parts);
  }

 private:
  Program program_;
  memory weights_;
  precision arithmetic_;
};

}  // namespace graphline
