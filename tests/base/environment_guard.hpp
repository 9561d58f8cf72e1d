#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace graphline {

/// Sets an environment variable, or unsets it without a value, and restores it on destruction.
class environment_guard {
 public:
  environment_guard(std::string name, const std::optional<std::string>& value)
      : name_(std::move(name)) {
    if (const char* before = std::getenv(name_.c_str())) before_ = before;
    put(value);
  }
  ~environment_guard() { put(before_); }
  environment_guard(const environment_guard&) = delete;
  environment_guard& operator=(const environment_guard&) = delete;

 private:
  void put(const std::optional<std::string>& value) {
    if (value) {
      ::setenv(name_.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name_.c_str());
    }
  }

  std::string name_;
  std::optional<std::string> before_;
};

}  // namespace graphline
