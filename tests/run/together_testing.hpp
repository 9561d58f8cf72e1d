#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "framework/plan/experiment_plan.hpp"
#include "framework/record/run_record.hpp"
#include "tests/run/test_kinds.hpp"

namespace graphline::testing_kinds {

/// CPU stage -> device stage -> CPU stage, named after the pipeline: "camera in", "camera",
/// "camera out".
inline pipeline_spec small_pipeline(const std::string& name, strategy how, graph_mode graphs,
                                    std::int64_t salt = 1) {
  pipeline_spec spec;
  spec.name = {name};
  spec.stages = {make_stage(name + " in", "cpu_mix", {}, salt),
                 make_stage(name, "device_parts", {name + " in"}, salt + 1),
                 make_stage(name + " out", "cpu_mix", {name}, salt + 2)};
  spec.run.strategy = how;
  spec.run.graphs = graphs;
  spec.run.frames = 30;
  spec.run.warmup = 2;
  return spec;
}

inline planned_configuration configuration(const std::string& name,
                                           const std::vector<pipeline_spec>& members,
                                           const stage_registry& registry) {
  planned_configuration c;
  c.what.name = name;
  for (const auto& spec : members) {
    c.what.members.push_back(spec.name.text);
    c.members.push_back(plan_for_host(spec, registry));
  }
  return c;
}

/// Counts what stages do, so that one can wait for another without a look at the clock.
class tally {
 public:
  void add(const std::string& what) {
    const std::scoped_lock lock(mutex_);
    ++counts_[what];
    changed_.notify_all();
  }

  std::int64_t of(const std::string& what) {
    const std::scoped_lock lock(mutex_);
    return counts_[what];
  }

  /// False when it was not reached within a minute, which nothing here takes unless it hangs.
  bool wait_for(const std::string& what, std::int64_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::minutes(1), [&] { return counts_[what] >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::int64_t> counts_;
};

}  // namespace graphline::testing_kinds
