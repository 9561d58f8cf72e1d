#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "framework/device/host/host_device.hpp"

namespace graphline::nn {

/// An operation of the `host` device that calls a function.
class host_function final : public host_operation {
 public:
  host_function(std::string name, std::function<void()> run, bool flushes_denormals = false)
      : name_(std::move(name)), run_(std::move(run)), flushes_denormals_(flushes_denormals) {}

  std::string_view name() const noexcept override { return name_; }
  void run() override { run_(); }
  bool flushes_denormals() const noexcept override { return flushes_denormals_; }

 private:
  std::string name_;
  std::function<void()> run_;
  bool flushes_denormals_;
};

}  // namespace graphline::nn
