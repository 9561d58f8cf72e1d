#pragma once

// Opens shared libraries when they are first needed, wherever they were installed: the program is
// linked against none of them and starts where they are missing.

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace graphline {

/// A shared library of this process. It stays loaded until the process ends, since what it created
/// may be destroyed as late as that.
class shared_library {
 public:
  shared_library(std::string name, void* handle);

  const std::string& name() const noexcept { return name_; }  ///< "libcudnn.so.9"
  void* handle() const noexcept { return handle_; }           ///< as dlopen returned it

  /// The file it was loaded from; the name where the system does not tell.
  std::string path() const;

  /// Its function of that name. Throws `run_error` when it has none.
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }

 private:
  void* symbol(const char* name) const;

  std::string name_;
  void* handle_;
};

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

/// A folder in which libraries are looked for.
struct library_place {
  std::string folder;  ///< empty: wherever the system's loader looks by itself
  std::string source;  ///< for messages: "GRAPHLINE_LIBRARY_PATH", "a Python package"
};

/// Where libraries are looked for, in this order: GRAPHLINE_LIBRARY_PATH (a list with colons), the
/// folders lib beside the executable and ../lib, the system's loader, the CUDA toolkit, and the
/// packages nvidia-* of the Pythons that VIRTUAL_ENV and PATH name. Reads the environment again at
/// each call.
std::vector<library_place> library_places();

/// Opens a library by its SONAME from the first place that has one that loads. Throws `run_error`
/// that says where it was looked for, what stood in the way there, and ends with `remedy`.
shared_library open_library(const std::string& name, std::span<const library_place> places,
                            const std::string& remedy);

/// As above, or nothing when there is none. For a library that another one will look for by its
/// SONAME: once loaded, it is found wherever it lies. What stood in the way of each place is added
/// to `looked`.
std::optional<shared_library> open_if_found(const std::string& name,
                                            std::span<const library_place> places,
                                            std::string* looked = nullptr);

}  // namespace graphline
