#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "framework/plan/draft.hpp"
#include "framework/spec/settings_table.hpp"

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

/// Raises the priority of a stage's stream to that of the stage.
void raise_priority(plan& p, const planned_stage& stage) {
  planned_stream& stream = p.streams[stage.stream];
  stream.priority = std::min(stream.priority, stage.priority);
}

/// Puts the device's name before a stream's name if there are several devices.
std::string on_device(const plan& p, std::size_t device, std::string name) {
  return p.devices.size() == 1 ? name : fmt::format("{} {}", p.devices[device].name, name);
}

/// Puts a copy on the stream of its direction. Each direction has one stream because it has one
/// copy engine. The stream gets the highest priority of its copies.
void put_copy(plan& p, std::size_t index, lanes& direction) {
  const planned_stage& stage = p.stages[index];
  direction.put(p, index, direction.empty(),
                {.name = on_device(p, stage.device, goes_in(p, stage) ? "copy in" : "copy out"),
                 .priority = stage.priority,
                 .copies = true,
                 .device = stage.device});
  raise_priority(p, stage);
}

/// Returns the maximum number of compute streams. By default, the streams of copies count, too.
std::size_t most_compute_streams(const stream_choice& streams, std::size_t copying) {
  if (streams.at_most > 0) return static_cast<std::size_t>(streams.at_most);
  switch (streams.rule) {
    case stream_rule::automatic:
      return most_streams - copying;
    case stream_rule::one:
      return 1;
    case stream_rule::per_stage:
    case stream_rule::per_branch:
      break;
  }
  return std::numeric_limits<std::size_t>::max();
}

/// Distributes the stages of one device.
void assign_streams(plan& p, std::size_t device) {
  const auto is_here = [device](const planned_stage& s) {
    return s.on == side::device && s.device == device;
  };
  std::array<bool, std::size(priority_words)> used{};  // priorities of compute stages
  std::array<bool, 2> copies{};                        // directions that need a stream
  for (const planned_stage& s : p.stages) {
    if (!is_here(s)) continue;
    (s.kind->moves ? copies[goes_in(p, s) ? 1 : 0] : used[level_of(s)]) = true;
  }
  const std::size_t most = most_compute_streams(
      p.run.streams, static_cast<std::size_t>(std::ranges::count(copies, true)));
  const bool apart = p.run.streams.rule == stream_rule::per_stage;
  // Stages that may share a stream: those of one priority or, with too few streams, of the lowest.
  std::vector<lanes> groups(
      apart ? p.stages.size()
            : std::min(static_cast<std::size_t>(std::ranges::count(used, true)), most));
  const auto group_of = [&](std::size_t index) {
    if (apart) return index;
    const auto higher = std::span(used).first(level_of(p.stages[index]));
    return std::min(static_cast<std::size_t>(std::ranges::count(higher, true)), most - 1);
  };
  std::array<lanes, 2> copying;
  std::size_t computing = 0;  // number of compute streams
  // Groups without a stream. One is reserved for each.
  std::size_t missing = groups.size();
  for (std::size_t i = 0; i < p.stages.size(); ++i) {
    const planned_stage& stage = p.stages[i];
    if (!is_here(stage)) continue;
    if (stage.kind->moves) {
      put_copy(p, i, copying[goes_in(p, stage) ? 1 : 0]);
      continue;
    }
    lanes& own = groups[group_of(i)];
    if (own.empty()) --missing;
    const bool may_add = own.empty() || computing + missing < most;
    const std::size_t before = own.size();
    own.put(p, i, may_add,
            {.name = on_device(p, device, fmt::format("stream {}", computing)),
             .priority = stage.priority,
             .device = device});
    raise_priority(p, stage);
    computing += own.size() - before;
  }
}

}  // namespace

void assign_streams(plan& p) {
  for (std::size_t device = 0; device < p.devices.size(); ++device) assign_streams(p, device);
  if (p.run.priorities) return;
  // Stages are distributed by their declared priorities even with `priorities: off`, so that an
  // experiment changes nothing else.
  for (planned_stream& stream : p.streams) stream.priority = priority::normal;
  for (planned_stage& stage : p.stages) stage.priority = priority::normal;
}

void warn_of_streams(const plan& p, const place& where, diagnostics& out) {
  if (p.run.streams == stream_choice{}) return;
  const auto computes = [](const planned_stage& s) {
    return s.on == side::device && !s.kind->moves;
  };
  const auto given = written(p.run.streams);
  if (std::ranges::count_if(p.stages, computes) < 2) {
    return out.warning(where, fmt::format("streams: {} has no effect on fewer than two device "
                                          "stages, apart from copies; omit streams",
                                          given));
  }
  for (const planned_stage& stage : p.stages) {
    if (!computes(stage) || stage.priority == p.streams[stage.stream].priority) continue;
    return out.warning(
        where, fmt::format("streams: {} gives stage '{}' of priority {} a stream of priority {}, "
                           "because there are fewer streams than priorities; allow more streams, "
                           "or set priorities: off",
                           given, stage.name, to_word(stage.priority),
                           to_word(p.streams[stage.stream].priority)));
  }
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
