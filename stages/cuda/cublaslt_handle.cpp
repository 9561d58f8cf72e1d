#include "stages/cuda/cublaslt_handle.hpp"

#include <fmt/format.h>

#include "framework/base/error.hpp"
#include "stages/cuda/vendor_libraries.hpp"

namespace graphline {

const cublaslt_functions& cublaslt() {
  static const cublaslt_functions found = [] {
    const shared_library& library = cublaslt_library_file();
    cublaslt_functions f{};
    const auto look_up = [&]<class Function>(Function*& function, const char* name) {
      function = library.function<Function>(name);
    };
    look_up(f.create, "cublasLtCreate");
    look_up(f.destroy, "cublasLtDestroy");
    look_up(f.version, "cublasLtGetVersion");
    look_up(f.status_name, "cublasLtGetStatusName");
    look_up(f.status_string, "cublasLtGetStatusString");
    look_up(f.product_create, "cublasLtMatmulDescCreate");
    look_up(f.product_destroy, "cublasLtMatmulDescDestroy");
    look_up(f.product_set, "cublasLtMatmulDescSetAttribute");
    look_up(f.layout_create, "cublasLtMatrixLayoutCreate");
    look_up(f.layout_destroy, "cublasLtMatrixLayoutDestroy");
    look_up(f.layout_set, "cublasLtMatrixLayoutSetAttribute");
    look_up(f.preference_create, "cublasLtMatmulPreferenceCreate");
    look_up(f.preference_destroy, "cublasLtMatmulPreferenceDestroy");
    look_up(f.preference_set, "cublasLtMatmulPreferenceSetAttribute");
    look_up(f.heuristic, "cublasLtMatmulAlgoGetHeuristic");
    look_up(f.algorithm_capability, "cublasLtMatmulAlgoCapGetAttribute");
    look_up(f.algorithm_setting, "cublasLtMatmulAlgoConfigGetAttribute");
    look_up(f.multiply, "cublasLtMatmul");
    return f;
  }();
  return found;
}

std::string describe_cublas(cublasStatus_t status, std::string_view call) {
  return fmt::format("{} failed: {} ({}), {}", call, cublaslt().status_name(status),
                     static_cast<int>(status), cublaslt().status_string(status));
}

void check_cublas(cublasStatus_t status, std::string_view call, std::string_view owner) {
  if (status != CUBLAS_STATUS_SUCCESS) [[unlikely]]
    throw run_error(fmt::format("{}: {}", owner, describe_cublas(status, call)));
}

std::string cublaslt_version() {
  const std::size_t version = cublaslt().version();
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

cublaslt_handle::cublaslt_handle(std::string owner) : owner_(std::move(owner)) {
  check_cublas(cublaslt().create(&handle_), "cublasLtCreate", owner_);
}

cublaslt_handle::~cublaslt_handle() {
  static_cast<void>(cublaslt().destroy(handle_));
}

}  // namespace graphline
