#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "framework/stage/stage.hpp"

namespace graphline {

// The built-in stage kinds, each defined in the file of its name.

stage_kind network_kind();        // network.cpp
stage_kind onnx_kind();           // onnx.cpp
stage_kind matmul_kind();         // matmul.cpp
stage_kind traffic_kind();        // traffic.cpp
stage_kind device_spin_kind();    // device_spin.cpp
stage_kind copy_kind();           // copy.cpp
stage_kind random_normal_kind();  // cpu/random_normal.cpp
stage_kind spin_kind();           // cpu/spin.cpp
stage_kind images_kind();         // cpu/images.cpp
stage_kind resize_kind();         // cpu/resize.cpp
stage_kind normalize_kind();      // cpu/normalize.cpp
stage_kind top_k_kind();          // cpu/top_k.cpp
stage_kind nms_kind();            // cpu/nms.cpp
stage_kind text_boxes_kind();     // cpu/text_boxes.cpp
stage_kind crop_kind();           // cpu/crop.cpp
stage_kind ctc_decode_kind();     // cpu/ctc_decode.cpp

// Those of them that a `cuda` device carries out otherwise. All throw `run_error` when a library
// cannot be had or has nothing for what is asked of it; `network` throws `input_error` for a wrong
// weights file, `onnx` for a model that was changed since it was planned.
std::unique_ptr<device_stage> make_network_cuda(device& d, const stage_config& config);
std::unique_ptr<device_stage> make_onnx_cuda(device& d, const stage_config& config);
std::unique_ptr<device_stage> make_matmul_cuda(device& d, const stage_config& config);
std::unique_ptr<device_stage> make_traffic_cuda(device& d, const stage_config& config);
std::unique_ptr<device_stage> make_device_spin_cuda(device& d, const stage_config& config);

/// The device tensors of a network are channels last on `cuda`, and of the type in which it
/// computes.
device_form network_form(const arguments& values, const std::string& backend);

/// A kind's factory of a CPU stage that is made from its configuration.
template <class Stage>
std::unique_ptr<cpu_stage> make_cpu_stage(const stage_config& config) {
  return std::make_unique<Stage>(config);
}

/// What a kind gives of which only that is known what it moves, not its arithmetic. Of outputs too
/// large to be counted, which a plan refuses, nothing is.
inline stage_shape shape_of_moves(std::span<const tensor_type> inputs,
                                  std::vector<tensor_type> outputs) {
  stage_shape result{std::move(outputs), {}, {}, known_cost::bytes};
  for (const tensor_type& type : inputs) {
    result.cost.bytes_read += static_cast<std::int64_t>(type.bytes());
  }
  for (const tensor_type& type : result.outputs) {
    if (!type.shape.checked_elements()) return result;
    result.cost.bytes_written += static_cast<std::int64_t>(type.bytes());
  }
  return result;
}

/// The work of a device stage that is one part, from what enqueues it on a stream.
template <class Enqueue>
class one_part_work final : public device_work {
 public:
  explicit one_part_work(Enqueue work) : work_(std::move(work)) {}

  void enqueue(stream& s) override { work_(s); }

  void enqueue_in_parts(stream& s, part_marker& marker) override {
    work_(s);
    marker.part_enqueued(s);
  }

 private:
  Enqueue work_;
};

template <class Enqueue>
std::unique_ptr<device_work> one_part(Enqueue work) {
  return std::make_unique<one_part_work<Enqueue>>(std::move(work));
}

}  // namespace graphline
