#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/stop_request.hpp"
#include "framework/campaign/ranks/link_stages.hpp"
#include "framework/campaign/ranks/rank_job.hpp"
#include "framework/campaign/ranks/rank_trials.hpp"
#include "framework/device/device.hpp"
#include "framework/ranks/communicator.hpp"
#include "tools/graphline/common_options.hpp"

namespace graphline {

record_text records_as_json();
trial_text trials_as_json(const experiment_plan& planned);

exit_status status_after(const std::exception& e);

/// Joins the ranks that MPI started, and runs a command on this one. If it throws, ends all ranks.
/// @param body Gets the stop request that an interrupt raises.
exit_status on_ranks(const std::function<exit_status(communicator&, const stop_request&)>& body);

/// Prepares a job by a step that returns what the rank runs; see `rank_job::prepare`. If a rank
/// fails, reports it and returns the exit status with which this rank ends.
std::optional<exit_status> prepare_job(rank_job& job, const std::function<std::string()>& step);

/// What of a pipeline runs on this rank: all of it or, if its stages name ranks, those of this one,
/// with links to the others. Outlives the sessions of its plan.
class part_of_pipeline {
 public:
  /// Plans the pipeline. Rank 0 prints warnings.
  /// @throws What `plan_to` throws; input_error if the stages name other ranks than there are
  plan make(pipeline_options& pipeline, communicator& messages, const stop_request& stop);

  bool is_part() const noexcept { return links_ != nullptr; }

  /// Returns what must be the same on all ranks: the file, parameters, settings and transfers.
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
  std::vector<rank_transfer> transfers_;
  std::unique_ptr<tensor_links> links_;
};

/// Describes what a rank runs by texts of files and settings: "'name' (OF HASH) with graphline
/// VERSION".
std::string what_runs(const std::string& name, std::string_view of, const std::string& texts);

/// Returns a warning if ranks of this machine take turns on the cores or the GPUs of this one.
std::vector<std::string> shared_with_ranks(const communicator& messages,
                                           const device_properties& device);

}  // namespace graphline
