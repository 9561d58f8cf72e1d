#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "framework/device/device.hpp"
#include "framework/stage/stage.hpp"

namespace graphline {

/// The timed events of one slot around the parts of a device stage: one before the first and one
/// after each.
class part_stamps final : public part_marker {
 public:
  /// `stage` names the events.
  part_stamps(device& d, const std::string& stage, std::size_t parts);

  /// Enqueues the stage's work with a stamp at each boundary, in a capture or not. Throws
  /// `run_error` when the stage tells of more or fewer parts than it has.
  void enqueue(device_work& work, stream& s);

  void part_enqueued(stream& s) override;

  /// Parts + 1 of them.
  const std::vector<std::unique_ptr<timed_event>>& boundaries() const noexcept {
    return boundaries_;
  }

 private:
  std::vector<std::unique_ptr<timed_event>> boundaries_;
  std::size_t next_ = 0;  ///< the boundary that comes next
};

}  // namespace graphline
