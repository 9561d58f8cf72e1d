#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "framework/plan/draft.hpp"

namespace graphline::planning {
namespace {

/// The default number of hardware queues (CUDA_DEVICE_MAX_CONNECTIONS). With more streams, some
/// share a queue and wait for each other.
constexpr std::size_t most_streams = 8;

/// With fewer streams, CPU stages wait for stages that they do not depend on. More would not speed
/// them up, because a device calls one host function at a time.
constexpr std::size_t most_call_streams = 8;

/// Streams of one priority or direction.
class lanes {
 public:
  bool empty() const noexcept { return all_.empty(); }
  std::size_t size() const noexcept { return all_.size(); }

  /// Puts a stage on a stream whose last stage it waits for. If there is none, puts it on a new
  /// stream if `may_add`, else on the stream with the fewest stages.
  void put(plan& p, std::size_t index, bool may_add, planned_stream added) {
    planned_stage& stage = p.stages[index];
    auto at = std::ranges::find_if(all_, [&](const lane& l) {
      return std::ranges::find(stage.waits, l.last, &dependency::stage) != stage.waits.end();
    });
    if (at == all_.end() && may_add) {
      all_.push_back({p.streams.size()});
      at = std::prev(all_.end());
      p.streams.push_back(std::move(added));
    } else if (at == all_.end()) {
      at = std::ranges::min_element(all_, {}, &lane::stages);
    }
    stage.stream = at->stream;
    at->last = index;
    ++at->stages;
  }

 private:
  struct lane {
    std::size_t stream;
    std::size_t last = none;
    std::size_t stages = 0;
  };
  std::vector<lane> all_;
};

/// Returns true if a copy writes to the device.
bool goes_in(const plan& p, const planned_stage& copy) {
  return !copy.writes.empty() && p.tensors[copy.writes[0]].on == side::device;
}

std::size_t level_of(const planned_stage& stage) {
  return static_cast<std::size_t>(stage.priority);
}

/// Puts a copy on the stream of its direction. Each direction has one stream because it has one
/// copy engine. The stream gets the highest priority of its copies.
void put_copy(plan& p, std::size_t index, lanes& direction) {
  const planned_stage& stage = p.stages[index];
  direction.put(p, index, direction.empty(),
                {goes_in(p, stage) ? "copy in" : "copy out", stage.priority, true});
  planned_stream& stream = p.streams[stage.stream];
  stream.priority = std::min(stream.priority, stage.priority);
}

}  // namespace

void assign_streams(plan& p) {
  std::array<bool, std::size(priority_words)> missing{};  // priorities that need a stream
  std::array<bool, 2> copies{};                           // directions that need a stream
  for (const planned_stage& s : p.stages) {
    if (s.on != side::device) continue;
    (s.kind->moves ? copies[goes_in(p, s) ? 1 : 0] : missing[level_of(s)]) = true;
  }
  std::array<lanes, std::size(priority_words)> compute;
  std::array<lanes, 2> copying;
  std::size_t computing = 0;  // number of compute streams
  for (std::size_t i = 0; i < p.stages.size(); ++i) {
    const planned_stage& stage = p.stages[i];
    if (stage.on != side::device) continue;
    if (stage.kind->moves) {
      put_copy(p, i, copying[goes_in(p, stage) ? 1 : 0]);
      continue;
    }
    // One stream is reserved for each priority and direction that still needs one.
    const auto kept = std::ranges::count(missing, true) + std::ranges::count(copies, true);
    lanes& own = compute[level_of(stage)];
    const bool may_add = own.empty() || computing + static_cast<std::size_t>(kept) < most_streams;
    missing[level_of(stage)] = false;
    const std::size_t before = own.size();
    own.put(p, i, may_add, {fmt::format("stream {}", computing), stage.priority});
    computing += own.size() - before;
  }
  if (p.run.priorities) return;
  // Stages are distributed by their declared priorities even with `priorities: off`, so that an
  // experiment changes nothing else.
  for (planned_stream& stream : p.streams) stream.priority = priority::normal;
  for (planned_stage& stage : p.stages) stage.priority = priority::normal;
}

void assign_call_streams(plan& p) {
  // A single stream keeps the planned order.
  const bool by_edges = !p.schedule.properties.in_order;
  lanes calls;
  for (std::size_t i = 0; i < p.stages.size(); ++i) {
    if (p.stages[i].on != side::cpu) continue;
    const bool may_add = calls.size() < (by_edges ? most_call_streams : 1);
    calls.put(p, i, may_add,
              {.name = by_edges ? fmt::format("cpu {}", calls.size()) : "cpu", .calls = true});
  }
}

}  // namespace graphline::planning
