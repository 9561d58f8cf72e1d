#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "framework/base/stop_request.hpp"
#include "framework/record/run_record.hpp"
#include "framework/run/execute/concurrent_runs.hpp"

namespace graphline {

/// How many frames those of several runs at once get that do not lead: so many that they last as
/// long as the others, since room for every sample is taken before a run. Guessed from short runs
/// of each alone at first, then known from the trials before.
class frame_allowance {
 public:
  /// The most there can be; 24 bytes each, and 16 for each column of samples.
  static constexpr std::int64_t most_frames = std::int64_t{1} << 22;

  /// Sets `frames` of all runs that do not lead.
  void give(std::size_t configuration, std::vector<concurrent_run>& runs, const stop_request* stop);

  /// Takes note of what a whole trial made of it.
  void learn(std::size_t configuration, const std::vector<concurrent_run>& runs,
             const std::vector<run_record>& records);

 private:
  std::map<std::size_t, std::vector<std::int64_t>> enough_;  ///< of a configuration's runs
};

}  // namespace graphline
