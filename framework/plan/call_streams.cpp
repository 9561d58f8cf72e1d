#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "framework/plan/draft.hpp"

namespace graphline::planning {
namespace {

/// A device calls one host function at a time, so that more streams could not make CPU stages any
/// faster, but fewer make them wait for what they do not need.
constexpr std::size_t most_streams = 8;

/// The stream that a CPU stage goes on in: that of a CPU stage it waits for which is the last of
/// its stream so far; else a new one; else, when there are enough, the one with the fewest stages.
class distributor {
 public:
  explicit distributor(plan& p) : plan_(p) {}

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
    if (queues_.size() < most_streams) return add(fmt::format("cpu {}", queues_.size()));
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
  distributor(p).run();
}

}  // namespace graphline::planning
