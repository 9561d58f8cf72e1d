#include "tests/bench/two_models/libraries.hpp"

#include <fmt/format.h>

namespace two_models {
namespace {

using graphline::library_place;

constexpr const char* remedy =
    "Install cuDNN 9 and cuBLAS 13, or name their folders in GRAPHLINE_LIBRARY_PATH.";

/// cuDNN compiles some kernels when it needs them. It looks NVRTC up by its name, and NVRTC does so
/// with the library of its built-ins: both are found once they are loaded.
void open_nvrtc(const std::vector<library_place>& places) {
  const auto nvrtc = graphline::open_if_found("libnvrtc.so.13", places);
  if (!nvrtc) return;  // cuDNN then does without
  int major = 0;
  int minor = 0;
  nvrtc->function<int(int*, int*)>("nvrtcVersion")(&major, &minor);
  graphline::open_if_found(fmt::format("libnvrtc-builtins.so.{}.{}", major, minor), places);
}

}  // namespace

const graphline::shared_library& cublaslt() {
  static const auto opened =
      graphline::open_library("libcublasLt.so.13", graphline::library_places(), remedy);
  return opened;
}

const graphline::shared_library& cudnn() {
  static const auto opened = [] {
    const auto places = graphline::library_places();
    open_nvrtc(places);
    cublaslt();
    return graphline::open_library("libcudnn.so.9", places, remedy);
  }();
  return opened;
}

}  // namespace two_models
