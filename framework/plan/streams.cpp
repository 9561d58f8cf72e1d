#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "framework/plan/draft.hpp"

namespace graphline::planning {
namespace {

/// What CUDA maps onto hardware queues by default (CUDA_DEVICE_MAX_CONNECTIONS); streams beyond it
/// share a queue and wait for each other without need.
constexpr std::size_t most_streams = 8;
constexpr std::size_t priority_levels = 3;

class stream_distributor {
 public:
  explicit stream_distributor(plan& p) : plan_(p), missing_{} {
    bool copies_in = false;
    bool copies_out = false;
    for (const planned_stage& s : p.stages) {
      if (s.on != side::device) continue;
      if (s.kind->moves) {
        (goes_in(s) ? copies_in : copies_out) = true;
      } else {
        missing_[level(s.priority)] = true;
      }
    }
    most_compute_ = most_streams - (copies_in ? 1U : 0U) - (copies_out ? 1U : 0U);
  }

  void run() {
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      planned_stage& stage = plan_.stages[s];
      if (stage.on != side::device) continue;
      stage.stream = stage.kind->moves ? copy_stream(stage) : compute_stream(stage);
      last_[stage.stream] = s;
      ++load_[stage.stream];
    }
  }

 private:
  static std::size_t level(priority p) { return static_cast<std::size_t>(p); }

  /// Whether a copy goes to the device.
  bool goes_in(const planned_stage& copy) const {
    return !copy.writes.empty() && plan_.tensors[copy.writes[0]].on == side::device;
  }

  std::size_t add(planned_stream stream) {
    plan_.streams.push_back(std::move(stream));
    last_.push_back(none);
    load_.push_back(0);
    return plan_.streams.size() - 1;
  }

  /// One stream per direction, as there is one copy engine for each; as urgent as its most urgent
  /// copy.
  std::size_t copy_stream(const planned_stage& stage) {
    std::size_t& stream = goes_in(stage) ? copy_in_ : copy_out_;
    if (stream == none) {
      stream = add({goes_in(stage) ? "copy in" : "copy out", stage.priority, true});
    }
    planned_stream& s = plan_.streams[stream];
    s.priority = std::min(s.priority, stage.priority);
    return stream;
  }

  /// The stream of a device stage that this one waits for, if it can be continued; else a new one;
  /// else, when there are enough, the one with the fewest stages.
  std::size_t compute_stream(const planned_stage& stage) {
    for (const dependency& wait : stage.waits) {
      const planned_stage& earlier = plan_.stages[wait.stage];
      if (earlier.on == side::device && !earlier.kind->moves &&
          earlier.priority == stage.priority && last_[earlier.stream] == wait.stage) {
        return earlier.stream;
      }
    }
    // A stream is kept back for every priority that has none yet.
    bool& missing = missing_[level(stage.priority)];
    const bool first = missing;
    missing = false;
    const auto kept = static_cast<std::size_t>(std::count(missing_.begin(), missing_.end(), true));
    if (first || compute_ + kept < most_compute_) {
      return add({fmt::format("stream {}", compute_++), stage.priority, false});
    }
    return least_loaded(stage.priority);
  }

  std::size_t least_loaded(priority level) const {
    std::size_t best = none;
    for (std::size_t s = 0; s < plan_.streams.size(); ++s) {
      const planned_stream& stream = plan_.streams[s];
      if (stream.copies || stream.priority != level) continue;
      if (best == none || load_[s] < load_[best]) best = s;
    }
    return best;
  }

  plan& plan_;
  std::array<bool, priority_levels> missing_;  ///< priorities in use that have no stream yet
  std::size_t most_compute_ = most_streams;
  std::size_t compute_ = 0;     ///< compute streams so far
  std::size_t copy_in_ = none;  ///< stream, once there is one
  std::size_t copy_out_ = none;
  std::vector<std::size_t> last_;  ///< last stage of each stream
  std::vector<std::size_t> load_;  ///< stages of each stream
};

}  // namespace

void assign_streams(plan& p) {
  stream_distributor(p).run();
  if (p.run.priorities) return;
  // Only after the stages are distributed by what was declared: the same streams with and without
  // priorities, so that an experiment that turns them off changes nothing else.
  for (planned_stream& stream : p.streams) stream.priority = priority::normal;
  for (planned_stage& stage : p.stages) stage.priority = priority::normal;
}

namespace {

/// A device calls one host function at a time, so that more streams could not make CPU stages any
/// faster, but fewer make them wait for what they do not need.
constexpr std::size_t most_call_streams = 8;

/// The stream that a CPU stage goes on in: that of a CPU stage it waits for which is the last of
/// its stream so far; else a new one; else, when there are enough, the one with the fewest stages.
class call_distributor {
 public:
  explicit call_distributor(plan& p) : plan_(p) {}

  void run() {
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      planned_stage& stage = plan_.stages[s];
      if (stage.on != side::cpu) continue;
      queue& to = queues_[choose(stage)];
      stage.stream = to.stream;
      to.last = s;
      ++to.stages;
    }
  }

 private:
  struct queue {
    std::size_t stream;
    std::size_t last = none;
    std::size_t stages = 0;
  };

  std::size_t choose(const planned_stage& stage) {
    // One stream keeps the declared order, which is what `async` says of CPU stages.
    if (plan_.run.strategy != strategy::overlap) return queues_.empty() ? add("cpu") : 0;
    for (std::size_t q = 0; q < queues_.size(); ++q) {
      for (const dependency& wait : stage.waits) {
        if (wait.stage == queues_[q].last) return q;
      }
    }
    if (queues_.size() < most_call_streams) return add(fmt::format("cpu {}", queues_.size()));
    const auto fewest =
        std::min_element(queues_.begin(), queues_.end(),
                         [](const queue& a, const queue& b) { return a.stages < b.stages; });
    return static_cast<std::size_t>(fewest - queues_.begin());
  }

  std::size_t add(std::string name) {
    queues_.push_back({plan_.streams.size()});
    plan_.streams.push_back({.name = std::move(name), .calls = true});
    return queues_.size() - 1;
  }

  plan& plan_;
  std::vector<queue> queues_;
};

}  // namespace

void assign_call_streams(plan& p) {
  call_distributor(p).run();
}

}  // namespace graphline::planning
