#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/campaign/predict/prediction.hpp"
#include "framework/plan/plan.hpp"
#include "framework/record/run_record.hpp"
#include "framework/run/execute/virtual_session.hpp"

namespace graphline {

/// Times of a stage by frame.
struct stage_times {
  std::vector<nanoseconds> work;
  std::vector<nanoseconds> issue;  ///< empty for a CPU stage
  std::vector<std::int32_t> rows;  ///< empty if the stage runs whole in every frame
  bool ran = false;                ///< in any frame
};

/// Longest times of a stage in all frames.
struct longest_times {
  nanoseconds work = 0;
  nanoseconds issue = 0;
  bool ran = false;  ///< in any frame
};

/// Stage times of recorded runs for the stages of a plan. The frames of all runs are numbered
/// consecutively, without those that a standstill delayed.
class source_times {
 public:
  /// @throws input_error if a run lacks what the plan needs, with the reason and the remedy
  /// @pre `p` outlives the object
  source_times(const plan& p, const std::vector<prediction_source>& sources,
               const prediction_options& options);

  /// Returns the number of frames of each source.
  const std::vector<std::size_t>& counts() const noexcept { return counts_; }

  std::size_t count() const noexcept { return launch_.size(); }

  /// Returns the median time of each stage, for the policy.
  const std::vector<nanoseconds>& expected() const noexcept { return expected_; }

  bool takes_time(std::size_t stage) const { return longest(stage).work > 0; }

  longest_times longest(std::size_t stage) const;
  nanoseconds longest_launch() const;  ///< of a frame's graph

  /// Returns times for a run whose frame f replays frame `order[f]`; more frames begin again. The
  /// time of stage `faster`, if any, is 10 % less.
  virtual_times replay(std::span<const std::uint32_t> order,
                       std::optional<std::size_t> faster = {}) const;

  /// Returns the length of blocks to resample: twice the largest automatic block length of the
  /// end-to-end times and of each stage's times in a source, at most a fifth of the source. The
  /// automatic length minimizes the error of a variance; intervals hold what they state with longer
  /// blocks.
  std::size_t block_length() const noexcept { return block_length_; }

 private:
  void add(const prediction_source& source);
  void scale(const std::string& name, double factor);

  const plan& plan_;
  std::vector<stage_times> stages_;
  std::vector<nanoseconds> expected_;
  std::vector<nanoseconds> launch_;  ///< launch time of a frame's graph
  std::vector<std::size_t> counts_;
  std::size_t block_length_ = 1;
};

/// @throws input_error that says why the plan cannot use the times of a source
[[noreturn]] void refuse_source(const plan& p, const prediction_source& source,
                                const std::string& why);

/// Returns the declared devices of a run, or its only device, without a name, if none is declared.
std::vector<device_record> devices_of(const run_record& run);

/// Returns true if stages take the same times on both devices.
bool runs_alike(const device_properties& a, const device_properties& b) noexcept;

/// Overheads of the host and the device.
struct source_overheads {
  /// From a device stage's completion to its observation: the median over the completions that the
  /// host was waiting for.
  nanoseconds completion_delay = 0;
  /// From what a CPU stage waited for to its start on another thread: the lower quartile; the upper
  /// ones include waits for a worker. The completion delay if one thread ran all stages.
  nanoseconds wake_up = 0;
  /// From a launch to the start of its work: the median over launches on a device that was idle for
  /// `long_idle` or longer, and over those on one that was idle for less; without those while
  /// another device was busy. Each is the other if the source has none.
  nanoseconds device_start = 0;
  nanoseconds device_restart = 0;
};

/// Time after which an idle device has fallen asleep. The `host` device polls for 30 us before.
inline constexpr nanoseconds long_idle = 50'000;

source_overheads overheads_of(const std::vector<prediction_source>& sources);

/// Returns the index of a stage that an option names.
/// @throws input_error if the plan has no such stage
std::size_t stage_named(const plan& p, const std::string& name, std::string_view option);

}  // namespace graphline
