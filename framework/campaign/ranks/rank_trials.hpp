#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "framework/campaign/experiment/experiment.hpp"
#include "framework/campaign/ranks/rank_job.hpp"

namespace graphline {

/// How a trial travels between ranks.
struct trial_text {
  std::function<std::string(const trial_record&)> write;
  std::function<trial_record(const std::string&)> read;
};

/// The other ranks of a job, on rank 0. Their trials arrive when rank 0 asks for them between its
/// own blocks, so that messages do not disturb trials.
class rank_helpers : public block_helpers {
 public:
  /// @pre `job` outlives the object, and its work has begun.
  rank_helpers(rank_job& job, std::size_t ranks, trial_text text)
      : job_(job), text_(std::move(text)), others_(ranks - 1) {}

  std::size_t count() const override { return others_; }
  void begin(std::size_t helper, std::size_t block, nanoseconds elapsed) override;
  std::optional<std::vector<trial_record>> trials() override;

 private:
  rank_job& job_;
  trial_text text_;
  std::size_t others_;
  std::vector<int> busy_;  ///< ranks with a block
};

/// Runs the blocks that rank 0 assigns to this rank, until it assigns no more. A trial that fails
/// ends the job.
void run_assigned_blocks(rank_job& job, const trial_place& place,
                         const std::vector<std::string>& warnings, const experiment_plan& planned,
                         trial_runner& runner, const trial_text& text);

}  // namespace graphline
