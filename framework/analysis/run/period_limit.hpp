#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "framework/base/words.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// A resource that frames share and that can limit their rate.
enum class serial_resource {
  stage,        ///< a stage works on one frame at a time
  host_thread,  ///< the single thread that runs CPU stages and launches; not with `overlap`
  cpu_cores,    ///< the cores for CPU stages
  device,       ///< a device that executes one operation at a time
};

inline constexpr word<serial_resource> serial_resource_words[] = {
    {"stage", serial_resource::stage},
    {"host_thread", serial_resource::host_thread},
    {"cpu_cores", serial_resource::cpu_cores},
    {"device", serial_resource::device}};
template <>
struct words_of<serial_resource> {
  static constexpr const auto& table = serial_resource_words;
};

/// The resource that fills the frame period.
struct period_limit {
  serial_resource what = serial_resource::stage;
  std::vector<std::size_t> stages;  ///< stages that use the resource
  double period = 0;                ///< in ns, from `frame_period`
  double share = 0;                 ///< mean busy fraction of the period
};

/// Returns the busiest resource if it is busy for at least 90 % of the frame period. Resources
/// count as equally busy if they differ by at most 1 % of the period. Returns the first of these in
/// the order of `serial_resource`, or all of them if they are stages. Empty if the pipeline keeps
/// up with scheduled arrivals. Also empty in a closed loop with one frame in flight, in which the
/// period is the frame.
std::optional<period_limit> limit_of_period(const run_record& record);

}  // namespace graphline
