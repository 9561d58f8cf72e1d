#pragma once

// Opens shared libraries at run time. The program does not link against them, so that it starts
// without them.

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace graphline {

/// A loaded shared library. Never unloaded, as objects that it created may be destroyed at exit.
class shared_library {
 public:
  shared_library(std::string name, void* handle);

  const std::string& name() const noexcept { return name_; }  ///< "libcudnn.so.9"
  void* handle() const noexcept { return handle_; }           ///< from dlopen

  /// Returns the path of the loaded file, or the name if unknown.
  std::string path() const;

  /// @throws run_error if the library has no such function
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }

 private:
  void* symbol(const char* name) const;

  std::string name_;
  void* handle_;
};

/// A library's function that converts to any function pointer. The conversion throws `run_error` if
/// there is no such function.
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

/// A folder to search for libraries.
struct library_place {
  std::string folder;  ///< empty for the search path of the system's loader
  std::string source;  ///< name in messages: "GRAPHLINE_LIBRARY_PATH", "a Python package"
};

/// Returns the library search path: GRAPHLINE_LIBRARY_PATH (separated by colons), lib and ../lib
/// beside the executable, the system's loader, the CUDA toolkit, and the nvidia-* packages of
/// Python. Reads the environment at each call.
std::vector<library_place> library_places();

/// Opens a library by its SONAME from the first place where it loads.
/// @throws run_error listing each place with the reason it failed, then `remedy`
shared_library open_library(const std::string& name, std::span<const library_place> places,
                            const std::string& remedy);

/// Same as `open_library`, but returns empty on failure and appends the reasons to `looked`. Use it
/// to preload a library that another library then finds by its SONAME.
std::optional<shared_library> open_if_found(const std::string& name,
                                            std::span<const library_place> places,
                                            std::string* looked = nullptr);

}  // namespace graphline
