#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
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
inline task_rules make_task_rules(const plan& p, std::size_t slots) {
  task_rules made;
  made.stages.resize(p.stages.size());
  std::map<std::size_t, std::size_t> queue_of_stream;
  for (std::size_t i = 0; i < p.stages.size(); ++i) {
    const auto& stage = p.stages[i];
    task_rule& r = made.stages[i];
    r.on_cpu = stage.on == side::cpu;
    r.ends_frame = stage.followers.empty();
    r.awaited = !r.on_cpu && stage.host_waits;
    r.stream = stage.stream;
    if (r.awaited) {
      r.queue = queue_of_stream.try_emplace(stage.stream, queue_of_stream.size()).first->second;
    }
    // A stage that waits for nothing in its frame waits for the frame to begin.
    r.missing = static_cast<std::uint32_t>(std::max<std::size_t>(1, stage.waits.size()));
    if (slots > 1) ++r.missing;  // and for itself in the frame before
    if (stage.waits.empty()) made.sources.push_back(static_cast<std::uint32_t>(i));
    if (r.ends_frame) ++made.ends;
    for (const auto& wait : stage.waits) {
      auto& earlier = made.stages[wait.stage];
      auto& list = wait.how == satisfied_by::completion ? earlier.at_completion : earlier.at_return;
      list.push_back(static_cast<std::uint32_t>(i));
    }
  }
  made.awaited_streams = queue_of_stream.size();
  return made;
}

}  // namespace graphline
