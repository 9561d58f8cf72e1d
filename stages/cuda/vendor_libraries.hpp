#pragma once

#include "framework/device/cuda/library_loader.hpp"

namespace graphline {

/// A library's function by name, as a pointer of whatever type is asked for. Throws `run_error`
/// when there is none.
class function_of {
 public:
  function_of(const shared_library& library, const char* name) : library_(library), name_(name) {}

  template <class Function>
  operator Function*() const {
    return library_.function<Function>(name_);
  }

 private:
  const shared_library& library_;
  const char* name_;
};

/// cuDNN, opened at the first call together with what it looks for itself. Throws `run_error` that
/// says where it was looked for and what to install.
const shared_library& cudnn_library_file();

/// cuBLASLt, in the same way.
const shared_library& cublaslt_library_file();

}  // namespace graphline
