// Which libraries there are, and what cuDNN says of the device.

#include <cudnn.h>
#include <cupti.h>
#include <fmt/format.h>

#include "framework/base/error.hpp"
#include "stages/cuda/vendor_libraries.hpp"
#include "tests/bench/gpu_probe/probe.hpp"

namespace gpu_probe {
namespace {

namespace gl = graphline;

gl::shared_library open_of_cuda(const char* name, const char* package) {
  constexpr int major = CUDART_VERSION / 1000;
  return gl::open_library(
      fmt::format("{}.so.{}", name, major), gl::library_places(),
      fmt::format("Install it, for instance with 'pip install {}' (version {}), or say in "
                  "GRAPHLINE_LIBRARY_PATH which folder it is in.",
                  package, major));
}

void tell_library(const char* name, const std::function<std::string()>& open) {
  try {
    tell(name, open());
  } catch (const gl::run_error& missing) {
    tell(std::string(name) + " is missing", missing.what());
  }
}

}  // namespace

void probe_libraries() {
  tell_library("cuDNN", [] {
    const gl::shared_library& library = gl::cudnn_library_file();
    return fmt::format("{}, {}", library.function<decltype(cudnnGetVersion)>("cudnnGetVersion")(),
                       library.path());
  });
  tell_library("cuBLASLt", [] {
    const gl::shared_library& library = gl::cublaslt_library_file();
    using version = std::size_t();
    return fmt::format("{}, {}", library.function<version>("cublasLtGetVersion")(), library.path());
  });
  tell_library("NVRTC", [] {
    const gl::shared_library library = open_of_cuda("libnvrtc", "nvidia-cuda-nvrtc");
    int major = 0;
    int minor = 0;
    library.function<int(int*, int*)>("nvrtcVersion")(&major, &minor);
    return fmt::format("{}.{}, {}", major, minor, library.path());
  });
  tell_library("CUPTI", [] {
    const gl::shared_library library = open_of_cuda("libcupti", "nvidia-cuda-cupti");
    std::uint32_t version = 0;
    library.function<decltype(cuptiGetVersion)>("cuptiGetVersion")(&version);
    return fmt::format("{}, built for {}, {}", version, CUPTI_API_VERSION, library.path());
  });
}

void probe_properties() {
  const gl::shared_library& library = gl::cudnn_library_file();
  const auto step = [](cudnnStatus_t status, const char* call) {
    if (status != CUDNN_STATUS_SUCCESS) {
      throw gl::run_error(fmt::format("{} failed: {}", call, static_cast<int>(status)));
    }
  };
  auto* const create =
      library.function<decltype(cudnnBackendCreateDescriptor)>("cudnnBackendCreateDescriptor");
  auto* const set =
      library.function<decltype(cudnnBackendSetAttribute)>("cudnnBackendSetAttribute");
  auto* const finalize = library.function<decltype(cudnnBackendFinalize)>("cudnnBackendFinalize");
  auto* const get =
      library.function<decltype(cudnnBackendGetAttribute)>("cudnnBackendGetAttribute");
  cudnnBackendDescriptor_t described = nullptr;
  std::int32_t number = 0;
  std::int64_t length = 0;
  step(create(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &described), "cudnnBackendCreateDescriptor");
  step(set(described, CUDNN_ATTR_DEVICEPROP_DEVICE_ID, CUDNN_TYPE_INT32, 1, &number),
       "cudnnBackendSetAttribute");
  step(finalize(described), "cudnnBackendFinalize");
  const auto attribute = CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION;
  step(get(described, attribute, CUDNN_TYPE_CHAR, 0, &length, nullptr), "cudnnBackendGetAttribute");
  std::string text(static_cast<std::size_t>(length), '\0');
  step(get(described, attribute, CUDNN_TYPE_CHAR, length, &length, text.data()),
       "cudnnBackendGetAttribute");
  tell("device properties of cuDNN", text.c_str());
}

}  // namespace gpu_probe
