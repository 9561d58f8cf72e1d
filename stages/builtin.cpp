#include "stages/builtin.hpp"

#include <utility>

#include "stages/kinds.hpp"
#include "stages/nn/onednn/onednn_program.hpp"
#ifdef GRAPHLINE_CUDA
#include "stages/nn/cuda/cuda_library.hpp"
#endif

namespace graphline {

stage_registry builtin_stages() {
#ifdef GRAPHLINE_CUDA
  stage_kind network = network_kind(make_cuda_network);
  stage_kind onnx = onnx_kind(make_cuda_network);
  stage_kind matmul = matmul_kind(make_cuda_matmul);
  stage_kind traffic = traffic_kind(make_cuda_traffic);
  stage_kind arg_max = arg_max_kind(make_cuda_arg_max);
  stage_kind resize = device_resize_kind(make_cuda_resize);
  stage_kind normalize = device_normalize_kind(make_cuda_normalize);
  stage_kind device_spin = device_spin_kind(make_cuda_spin);
  for (stage_kind* kind : {&network, &onnx, &matmul}) {
    kind->libraries["cuda"] = nn::cuda_library_versions;
  }
#else
  stage_kind network = network_kind();
  stage_kind onnx = onnx_kind();
  stage_kind matmul = matmul_kind();
  stage_kind traffic = traffic_kind();
  stage_kind arg_max = arg_max_kind();
  stage_kind resize = device_resize_kind();
  stage_kind normalize = device_normalize_kind();
  stage_kind device_spin = device_spin_kind();
#endif
  for (stage_kind* kind : {&network, &onnx, &matmul}) kind->libraries["host"] = nn::onednn_version;
  stage_registry registry;
  registry.add(std::move(network));
  registry.add(std::move(onnx));
  registry.add(std::move(matmul));
  registry.add(std::move(traffic));
  registry.add(std::move(arg_max));
  registry.add(std::move(resize));
  registry.add(std::move(normalize));
  registry.add(std::move(device_spin));
  registry.add(copy_kind());
  registry.add(random_normal_kind());
  registry.add(spin_kind());
  registry.add(batch_kind());
  registry.add(images_kind());
  registry.add(arrays_kind());
  registry.add(audio_kind());
  registry.add(resize_kind());
  registry.add(letterbox_kind());
  registry.add(normalize_kind());
  registry.add(top_k_kind());
  registry.add(threshold_kind());
  registry.add(nms_kind());
  registry.add(gather_kind());
  registry.add(boxes_kind());
  registry.add(text_boxes_kind());
  registry.add(crop_kind());
  registry.add(ctc_decode_kind());
  return registry;
}

}  // namespace graphline
