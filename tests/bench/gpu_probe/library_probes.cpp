// Probes of libraries.

#include <cudnn.h>
#include <cupti.h>
#include <fmt/format.h>

#include "framework/base/error.hpp"
#include "stages/nn/cuda/vendor_libraries.hpp"
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
    const gl::shared_library& library = gl::nn::cudnn_library_file();
    return fmt::format("{}, {}", library.function<decltype(cudnnGetVersion)>("cudnnGetVersion")(),
                       library.path());
  });
  tell_library("cuBLASLt", [] {
    const gl::shared_library& library = gl::nn::cublaslt_library_file();
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

}  // namespace gpu_probe
