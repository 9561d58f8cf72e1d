#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

namespace graphline {

/// How a graphline program ends; the numbers are its exit status.
enum class exit_status : int {
  done = 0,
  run_failed = 1,     ///< a stage, the device or an output failed while running
  bad_input = 2,      ///< the command line or a file is wrong
  no_device = 3,      ///< the device asked for cannot be had
  gate_failed = 4,    ///< all ran, and a --fail-if condition holds or cannot be judged
  interrupted = 130,  ///< Ctrl-C; what was measured so far is reported
};

/// Base of everything Graphline throws. `what()` is a whole message for a person: it names the
/// place and, where there is one, the remedy.
class error : public std::runtime_error {
 public:
  error(exit_status status, const std::string& message)
      : std::runtime_error(message), status_(status) {}

  exit_status status() const noexcept { return status_; }

 private:
  exit_status status_;
};

/// A command line or file that is wrong. Exit status 2.
class input_error : public error {
 public:
  explicit input_error(const std::string& message) : error(exit_status::bad_input, message) {}
};

/// Something failed while running. Exit status 1.
class run_error : public error {
 public:
  explicit run_error(const std::string& message) : error(exit_status::run_failed, message) {}
};

/// One whose message begins with the stage and the frame that it is of.
class stage_failure : public run_error {
 public:
  using run_error::run_error;
};

/// The device asked for cannot be had. Exit status 3.
class no_device_error : public error {
 public:
  explicit no_device_error(const std::string& message) : error(exit_status::no_device, message) {}
};

/// A stop was requested before there was anything to report. Exit status 130.
class interrupted_error : public error {
 public:
  explicit interrupted_error(const std::string& message)
      : error(exit_status::interrupted, message) {}
};

/// What an exception says, for a message; of too little memory the standard library says only
/// "std::bad_alloc". Takes no memory itself.
inline const char* reason_of(const std::exception& e) noexcept {
  const bool memory = dynamic_cast<const std::bad_alloc*>(&e) != nullptr ||
                      dynamic_cast<const std::length_error*>(&e) != nullptr;
  return memory ? "out of memory" : e.what();
}

/// The same of whatever is caught, from within the catch block, until its end.
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
