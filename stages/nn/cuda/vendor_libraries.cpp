#include "stages/nn/cuda/vendor_libraries.hpp"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cudnn_version.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

namespace graphline::nn {
namespace {

// Libraries with the same major version have compatible interfaces.
constexpr int cuda_major = CUDART_VERSION / 1000;
constexpr int cudnn_major = CUDNN_MAJOR;
constexpr int cublas_major = CUBLAS_VER_MAJOR;

std::string remedy(const std::string& package) {
  return fmt::format(
      "Install it, for instance with 'pip install {}', or say in GRAPHLINE_LIBRARY_PATH which "
      "folder it is in.",
      package);
}

std::string cublaslt_name() {
  return fmt::format("libcublasLt.so.{}", cublas_major);
}

/// Opens NVRTC and its builtins library. NVRTC loads builtins by name, but not from its own folder.
void open_nvrtc(const std::vector<library_place>& places) {
  namespace fs = std::filesystem;
  const std::optional<shared_library> nvrtc =
      open_if_found(fmt::format("libnvrtc.so.{}", cuda_major), places);
  if (!nvrtc) return;  // cuDNN then skips engines that need NVRTC
  const library_place place{fs::path(nvrtc->path()).parent_path().string(), "beside NVRTC"};
  std::error_code error;
  for (fs::directory_iterator entry(place.folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string file = entry->path().filename().string();
    if (file.starts_with(fmt::format("libnvrtc-builtins.so.{}.", cuda_major))) {
      open_if_found(file, {&place, 1});
    }
  }
}

/// Selects the CUDA runtime for cuDNN's frontend, which would otherwise load the first runtime of
/// CUDA 12 or 13 that it finds. A user's choice in the environment takes precedence.
void open_runtime(const std::vector<library_place>& places) {
  constexpr const char* variable = "CUDNN_FRONTEND_CUDART_LIB_NAME";
  if (const char* const named = std::getenv(variable); named != nullptr && *named != '\0') return;
  const auto runtime = open_if_found(fmt::format("libcudart.so.{}", cuda_major), places);
  if (runtime) ::setenv(variable, runtime->path().c_str(), 1);
}

}  // namespace

const shared_library& cudnn_library_file() {
  static const shared_library opened = [] {
    const std::vector<library_place> places = library_places();
    open_runtime(places);
    open_nvrtc(places);
    open_if_found(cublaslt_name(), places);
    return open_library(fmt::format("libcudnn.so.{}", cudnn_major), places,
                        remedy(fmt::format("nvidia-cudnn-cu{}", cuda_major)));
  }();
  return opened;
}

const shared_library& cublaslt_library_file() {
  static const shared_library opened = open_library(
      cublaslt_name(), library_places(),
      remedy(cuda_major >= 13 ? "nvidia-cublas" : fmt::format("nvidia-cublas-cu{}", cuda_major)));
  return opened;
}

}  // namespace graphline::nn
