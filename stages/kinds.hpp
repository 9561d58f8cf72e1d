#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/stage/stage.hpp"

namespace graphline {

namespace nn {
struct network_definition;
struct strided_product;
class weight_table;
}  // namespace nn

using network_factory = std::function<std::unique_ptr<device_stage>(
    device&, const nn::network_definition&, const nn::weight_table&, const stage_config&)>;

/// Makes a stage that multiplies matrices by vectors, at this cost.
using gemv_factory = std::function<std::unique_ptr<device_stage>(
    device&, const nn::strided_product&, const cost&, const stage_config&)>;

// The built-in stage kinds, each defined in the file of its name. Kinds of device stages take their
// factory for `cuda`; without it they run only on `host`.

stage_kind network_kind(const network_factory& make_cuda = {});  // network.cpp
stage_kind onnx_kind(const network_factory& make_cuda = {});     // onnx.cpp
stage_kind matmul_kind(const network_factory& make_cuda = {},
                       const gemv_factory& make_cuda_gemv = {});               // matmul.cpp
stage_kind traffic_kind(const device_stage_factory& make_cuda = {});           // traffic.cpp
stage_kind arg_max_kind(const device_stage_factory& make_cuda = {});           // arg_max.cpp
stage_kind device_resize_kind(const device_stage_factory& make_cuda = {});     // cpu/resize.cpp
stage_kind device_normalize_kind(const device_stage_factory& make_cuda = {});  // cpu/normalize.cpp
stage_kind device_spin_kind(const device_stage_factory& make_cuda = {});       // device_spin.cpp
stage_kind copy_kind();                                                        // copy.cpp
stage_kind random_normal_kind();  // cpu/random_normal.cpp
stage_kind spin_kind();           // cpu/spin.cpp
stage_kind batch_kind();          // cpu/batch.cpp
stage_kind images_kind();         // cpu/images.cpp
stage_kind arrays_kind();         // cpu/arrays.cpp
stage_kind audio_kind();          // cpu/audio.cpp
stage_kind resize_kind();         // cpu/resize.cpp
stage_kind letterbox_kind();      // cpu/letterbox.cpp
stage_kind normalize_kind();      // cpu/normalize.cpp
stage_kind top_k_kind();          // cpu/top_k.cpp
stage_kind threshold_kind();      // cpu/threshold.cpp
stage_kind nms_kind();            // cpu/nms.cpp
stage_kind gather_kind();         // cpu/gather.cpp
stage_kind boxes_kind();          // cpu/boxes.cpp
stage_kind text_boxes_kind();     // cpu/text_boxes.cpp
stage_kind crop_kind();           // cpu/crop.cpp
stage_kind ctc_decode_kind();     // cpu/ctc_decode.cpp

// The factories for `cuda`. All throw `run_error` if a library is missing or has no implementation.
std::unique_ptr<device_stage> make_cuda_network(device& d, const nn::network_definition& network,
                                                const nn::weight_table& weights,
                                                const stage_config& config);
std::unique_ptr<device_stage> make_cuda_gemv(device& d, const nn::strided_product& product,
                                             const cost& counted, const stage_config& config);
std::unique_ptr<device_stage> make_cuda_traffic(device& d, const stage_config& config);
std::unique_ptr<device_stage> make_cuda_arg_max(device& d, const stage_config& config);
std::unique_ptr<device_stage> make_cuda_resize(device& d, const stage_config& config);
std::unique_ptr<device_stage> make_cuda_normalize(device& d, const stage_config& config);
std::unique_ptr<device_stage> make_cuda_spin(device& d, const stage_config& config);

/// Returns the backends of a device kind: `host`, and `cuda` if it has a factory.
template <class Factory>
std::vector<std::string> backends(const Factory& make_cuda) {
  return make_cuda ? std::vector<std::string>{"cuda", "host"} : std::vector<std::string>{"host"};
}

/// Returns the factories of a device stage by backend; `make_cuda` may be unset.
inline std::map<std::string, device_stage_factory> factories(device_stage_factory make_host,
                                                             device_stage_factory make_cuda) {
  std::map<std::string, device_stage_factory> by_backend{{"host", std::move(make_host)}};
  if (make_cuda) by_backend.emplace("cuda", std::move(make_cuda));
  return by_backend;
}

/// Completes a kind of device stage, whose `prepare` leaves the factories unset.
inline stage_kind on_devices(stage_kind kind, device_stage_factory make_host,
                             const device_stage_factory& make_cuda) {
  kind.on = side::device;
  kind.backends = backends(make_cuda);
  kind.prepare =
      [prepare = std::move(kind.prepare), make = factories(std::move(make_host), make_cuda)](
          const arguments& given, std::span<const tensor_type> inputs, diagnostics& out) {
        prepared_stage result = prepare(given, inputs, out);
        result.make_device = make;
        return result;
      };
  return kind;
}

/// Returns a kind of CPU stage that has only a name and a headline so far.
inline stage_kind kind_named(std::string name, std::string headline) {
  stage_kind kind;
  kind.name = std::move(name);
  kind.headline = std::move(headline);
  return kind;
}

/// Reports an error with what the kind reads and the types that were found, unless these are
/// `sound`.
/// @return `sound`
inline bool check_inputs(bool sound, const arguments& given, std::span<const tensor_type> inputs,
                         std::string_view reads, diagnostics& out) {
  if (sound) return true;
  std::string found;
  for (const tensor_type& type : inputs) found += (found.empty() ? "" : ", ") + to_string(type);
  out.error(given.where(), std::string(reads) + "; found " + found);
  return false;
}

template <class Stage>
std::unique_ptr<cpu_stage> make_cpu_stage(const stage_config& config) {
  return std::make_unique<Stage>(config);
}

/// Prepares a CPU stage whose bytes are known and whose FLOPs are unknown. Outputs that are too
/// large to be counted count as 0 bytes; a plan refuses such outputs.
inline prepared_stage prepared_moves(std::span<const tensor_type> inputs,
                                     std::vector<tensor_type> outputs, cpu_stage_factory make_cpu) {
  prepared_stage result{
      .outputs = std::move(outputs), .known = known_cost::bytes, .make_cpu = std::move(make_cpu)};
  for (const tensor_type& type : inputs) {
    result.cost.bytes_read += static_cast<std::int64_t>(type.bytes());
  }
  for (const tensor_type& type : result.outputs) {
    if (!type.shape.checked_elements()) return result;
    result.cost.bytes_written += static_cast<std::int64_t>(type.bytes());
  }
  return result;
}

}  // namespace graphline
