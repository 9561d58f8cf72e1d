#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "framework/device/host/host_device.hpp"

namespace graphline {

/// An operation made of a function, for tests.
class function_operation final : public host_operation {
 public:
  function_operation(std::string name, std::function<void()> work)
      : name_(std::move(name)), work_(std::move(work)) {}

  std::string_view name() const noexcept override { return name_; }
  void run() override { work_(); }

 private:
  std::string name_;
  std::function<void()> work_;
};

}  // namespace graphline
