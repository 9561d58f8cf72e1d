#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "framework/plan/plan.hpp"

namespace graphline {

/// What `overlap` knows of a stage before any frame.
struct task_rule {
  bool on_cpu = false;
  bool awaited = false;                      ///< its completion goes through the watcher
  bool ends_frame = false;                   ///< nothing follows it
  std::uint32_t missing = 0;                 ///< what a frame of it waits for
  std::size_t stream = 0;                    ///< of a device stage
  std::size_t queue = 0;                     ///< of the watcher, for an awaited stage
  std::vector<std::uint32_t> at_return;      ///< followers freed when the host is done with it
  std::vector<std::uint32_t> at_completion;  ///< followers freed when it is complete
};

/// The same of all stages of a plan, in its order.
struct task_rules {
  std::vector<task_rule> stages;
  std::vector<std::uint32_t> sources;  ///< wait for the frame to begin only
  std::uint32_t ends = 0;              ///< stages that nothing follows
  std::size_t awaited_streams = 0;     ///< with a stage whose completion the host must see
};

/// `slots`: frames in flight; with several a stage also waits for itself in the frame before.
task_rules make_task_rules(const plan& p, std::size_t slots);

}  // namespace graphline
