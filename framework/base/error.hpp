#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

namespace graphline {

/// Exit status of the programs.
enum class exit_status : int {
  done = 0,
  run_failed = 1,   ///< a stage, the device or an output failed during the run
  bad_input = 2,    ///< the command line or a file is wrong
  no_device = 3,    ///< the requested device is not available
  gate_failed = 4,  ///< the run completed, but a --fail-if condition is true or cannot be evaluated
  interrupted = 130,  ///< Ctrl-C; what was measured so far is reported
};

/// Base of all exceptions that Graphline throws. `what()` is a complete message for users. It names
/// the place and, if known, the remedy.
class error : public std::runtime_error {
 public:
  error(exit_status status, const std::string& message)
      : std::runtime_error(message), status_(status) {}

  exit_status status() const noexcept { return status_; }

 private:
  exit_status status_;
};

/// Thrown for an invalid command line or file. Exit status 2.
class input_error : public error {
 public:
  explicit input_error(const std::string& message) : error(exit_status::bad_input, message) {}
};

/// Thrown for a failure during a run. Exit status 1.
class run_error : public error {
 public:
  explicit run_error(const std::string& message) : error(exit_status::run_failed, message) {}
};

/// A `run_error` whose message begins with the stage and the frame.
class stage_failure : public run_error {
 public:
  using run_error::run_error;
};

/// Thrown if the requested device is not available. Exit status 3.
class no_device_error : public error {
 public:
  explicit no_device_error(const std::string& message) : error(exit_status::no_device, message) {}
};

/// Thrown if the run stopped on request before it had anything to report. Exit status 130.
class interrupted_error : public error {
 public:
  explicit interrupted_error(const std::string& message)
      : error(exit_status::interrupted, message) {}
};

/// Returns "out of memory" for std::bad_alloc and std::length_error, else `e.what()`.
inline const char* reason_of(const std::exception& e) noexcept {
  const bool memory = dynamic_cast<const std::bad_alloc*>(&e) != nullptr ||
                      dynamic_cast<const std::length_error*>(&e) != nullptr;
  return memory ? "out of memory" : e.what();
}

/// Same for the exception of the enclosing catch block. The text is valid within that block.
inline const char* reason_of_caught() noexcept {
  try {
    throw;
  } catch (const std::exception& e) {
    return reason_of(e);
  } catch (...) {
    return "an exception not derived from std::exception";
  }
}

}  // namespace graphline
