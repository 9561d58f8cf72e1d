#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "framework/device/device.hpp"
#include "framework/plan/plan.hpp"

namespace graphline {

/// Opens the device for a plan, with the compute threads that its settings ask for. Before anything
/// is printed: the program may start itself again for it.
std::unique_ptr<device> open_device(const std::string& device_name, const plan& p);

/// The same without a plan. `threads`: compute threads of `host`, 0: half the cores.
std::unique_ptr<device> open_device(const std::string& device_name, int threads);

/// The devices that the plans of an experiment run on: one, or on `host` one for each number of
/// compute threads that they ask for. Opened when first asked for.
class device_set {
 public:
  /// `plans`: all that will be asked for. The program may start itself again, as in `open_device`.
  device_set(std::string device_name, const std::vector<const plan*>& plans);

  /// Stays open as long as this exists.
  device& operator()(const plan& p);

 private:
  std::string name_;
  bool host_;
  std::map<int, std::unique_ptr<device>> open_;  ///< by threads; 0 for what has no such number
};

/// Keeps the command line, with which the program starts itself again. Call first in main.
void remember_command_line(char** argv);

}  // namespace graphline
