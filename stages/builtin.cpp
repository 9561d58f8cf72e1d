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
  stage_kind matmul = matmul_kind(make_cuda_network, make_cuda_gemv);
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
  for (stage_kind* kind :
       {&network, &onnx, &matmul, &traffic, &arg_max, &resize, &normalize, &device_spin}) {
    registry.add(std::move(*kind));
  }
  for (const auto make :
       {copy_kind, random_normal_kind, spin_kind, batch_kind, images_kind, arrays_kind, audio_kind,
        resize_kind, letterbox_kind, normalize_kind, top_k_kind, threshold_kind, nms_kind,
        gather_kind, boxes_kind, text_boxes_kind, crop_kind, ctc_decode_kind}) {
    registry.add(make());
  }
  return registry;
}

}  // namespace graphline
