#include "framework/run/execute/slot.hpp"

#include "framework/run/execute/frame_graph.hpp"

namespace graphline {

part_stamps::part_stamps(device& d, const std::string& stage, std::size_t parts) {
  for (std::size_t i = 0; i <= parts; ++i) {
    boundaries_.push_back(d.make_timed_event(fmt::format("{} boundary {}", stage, i)));
  }
}

void part_stamps::enqueue(device_work& work, stream& s) {
  next_ = 0;
  s.stamp(*boundaries_[next_++]);
  work.enqueue_in_parts(s, *this);
  if (next_ == boundaries_.size()) return;
  throw run_error(
      fmt::format("it told of {} of its {} parts while it was enqueued; its "
                  "enqueue_in_parts() must tell after each of parts()",
                  next_ - 1, boundaries_.size() - 1));
}

void part_stamps::part_enqueued(stream& s) {
  if (next_ == boundaries_.size()) {
    throw run_error(
        fmt::format("it told of more than its {} parts while it was enqueued; its "
                    "enqueue_in_parts() must tell once after each of parts()",
                    boundaries_.size() - 1));
  }
  s.stamp(*boundaries_[next_++]);
}

slot::slot() = default;
slot::slot(slot&&) noexcept = default;
slot::~slot() = default;

}  // namespace graphline
