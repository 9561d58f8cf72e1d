#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "framework/base/words.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// What can be at work on only so much at a time, whichever frames it is for.
enum class serial_resource {
  stage,        ///< works on one frame at a time
  host_thread,  ///< the one thread that runs CPU stages and launches, without `overlap`
  cpu_cores,    ///< all that CPU stages have
  device,       ///< one that carries out one operation at a time
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

/// The resource that leaves no room for another frame in the frame period.
struct period_limit {
  serial_resource what = serial_resource::stage;
  std::vector<std::size_t> stages;  ///< that it works on
  double period = 0;                ///< ns, as `frame_period`
  double share = 0;                 ///< of it, in which the resource is at work, on average
};

/// Of the resources that are at work for at least 90 % of the frame period the fullest one. Of
/// those that are as full to within 1 % of the period it is the first in the order of
/// `serial_resource`, which says most: a stage rather than the device that works on it; with all
/// such stages. Nothing with one frame in flight, whose period is the frame itself, nor where
/// frames come on a schedule that the pipeline keeps up with.
std::optional<period_limit> limit_of_period(const run_record& record);

}  // namespace graphline
