#include "stages/cuda/cudnn_handle.hpp"

#include <fmt/format.h>

#include <array>

#include "framework/base/error.hpp"
#include "stages/cuda/vendor_libraries.hpp"

namespace graphline {
namespace {

/// The functions used here; the frontend finds those of its own.
struct cudnn_functions {
  decltype(&cudnnCreate) create;
  decltype(&cudnnDestroy) destroy;
  decltype(&cudnnSetStream) set_stream;
  decltype(&cudnnGetVersion) version;
  decltype(&cudnnGetErrorString) error_string;
  decltype(&cudnnGetLastErrorString) last_error;
};

const cudnn_functions& functions() {
  static const cudnn_functions found = [] {
    const shared_library& library = cudnn_library_file();
    return cudnn_functions{
        library.function<decltype(cudnnCreate)>("cudnnCreate"),
        library.function<decltype(cudnnDestroy)>("cudnnDestroy"),
        library.function<decltype(cudnnSetStream)>("cudnnSetStream"),
        library.function<decltype(cudnnGetVersion)>("cudnnGetVersion"),
        library.function<decltype(cudnnGetErrorString)>("cudnnGetErrorString"),
        library.function<decltype(cudnnGetLastErrorString)>("cudnnGetLastErrorString")};
  }();
  return found;
}

}  // namespace

void check_cudnn(cudnnStatus_t status, std::string_view call, std::string_view owner) {
  if (status == CUDNN_STATUS_SUCCESS) [[likely]]
    return;
  std::array<char, 1024> details{};
  functions().last_error(details.data(), details.size());
  throw run_error(fmt::format("{}: {} failed: {} ({}){}{}", owner, call,
                              functions().error_string(status), static_cast<int>(status),
                              details.front() == '\0' ? "" : ", ", details.data()));
}

std::string cudnn_version() {
  const std::size_t version = functions().version();
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

cudnn_handle::cudnn_handle(std::string owner) : owner_(std::move(owner)) {
  check_cudnn(functions().create(&handle_), "cudnnCreate", owner_);
}

cudnn_handle::~cudnn_handle() {
  static_cast<void>(functions().destroy(handle_));
}

void cudnn_handle::use_stream(cudaStream_t stream) {
  if (stream_ == stream) return;
  check_cudnn(functions().set_stream(handle_, stream), "cudnnSetStream", owner_);
  stream_ = stream;
}

}  // namespace graphline
