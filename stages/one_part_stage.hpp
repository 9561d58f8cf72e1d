#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "framework/stage/stage.hpp"

namespace graphline {

/// Enqueues the work of a frame on a stream.
using enqueue_function = std::function<void(stream&)>;

class one_part_work final : public device_work {
 public:
  explicit one_part_work(enqueue_function enqueue) : enqueue_(std::move(enqueue)) {}

  void enqueue(stream& s) override { enqueue_(s); }

  void enqueue_in_parts(stream& s, part_marker& marker) override {
    enqueue_(s);
    marker.part_enqueued(s);
  }

 private:
  enqueue_function enqueue_;
};

/// A device stage whose work is one part. `bind` returns the work on the tensors of a slot. `parts`
/// may be empty, for a stage without parts.
class one_part_stage final : public device_stage {
 public:
  using binding = std::function<enqueue_function(const stage_tensors&)>;

  one_part_stage(std::vector<stage_part> parts, binding bind, std::size_t scratch_bytes = 0)
      : parts_(std::move(parts)), bind_(std::move(bind)), scratch_bytes_(scratch_bytes) {}

  std::size_t scratch_bytes() const override { return scratch_bytes_; }
  std::vector<stage_part> parts() const override { return parts_; }

  std::unique_ptr<device_work> bind(const stage_tensors& tensors) override {
    return std::make_unique<one_part_work>(bind_(tensors));
  }

 private:
  std::vector<stage_part> parts_;
  binding bind_;
  std::size_t scratch_bytes_;
};

/// Returns work that copies the first input to the first output.
inline enqueue_function enqueue_copy(const stage_tensors& tensors) {
  return [from = tensors.inputs.at(0), to = tensors.outputs.at(0)](stream& s) {
    s.copy(to.data, from.data, from.type.bytes());
  };
}

}  // namespace graphline
