#include "stages/nn/cuda/cudnn_handle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "framework/base/error.hpp"
#include "stages/nn/cuda/vendor_libraries.hpp"

namespace graphline::nn {
namespace {

/// The cuDNN functions called here. The frontend looks up the functions that it calls.
struct cudnn_functions {
  const shared_library& library = cudnn_library_file();
  decltype(&cudnnCreate) create = function_of(library, "cudnnCreate");
  decltype(&cudnnDestroy) destroy = function_of(library, "cudnnDestroy");
  decltype(&cudnnSetStream) set_stream = function_of(library, "cudnnSetStream");
  decltype(&cudnnGetVersion) version = function_of(library, "cudnnGetVersion");
  decltype(&cudnnGetErrorString) error_string = function_of(library, "cudnnGetErrorString");
  decltype(&cudnnGetLastErrorString) last_error = function_of(library, "cudnnGetLastErrorString");
};

const cudnn_functions& functions() {
  static const cudnn_functions found;
  return found;
}

constexpr std::size_t longest = 400;

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

std::string reason_in(const std::string& message) {
  constexpr std::string_view because = "Reason: ";
  const std::size_t reason = message.find(because);
  std::string text = message;
  if (reason != std::string::npos) {
    const std::size_t begin = reason + because.size();
    text = message.substr(begin, message.find('\n', begin) - begin);
  }
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  return text.empty() ? "no reason given" : text;
}

}  // namespace graphline::nn
