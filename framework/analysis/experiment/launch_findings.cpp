#include <fmt/format.h>

#include <algorithm>

#include "framework/analysis/experiment/finding_parts.hpp"
#include "framework/analysis/run/launch_bound.hpp"

namespace graphline {

namespace {

class mean {
 public:
  void add(const std::vector<nanoseconds>& times) {
    for (const auto time : times) add(time);
  }
  void add(nanoseconds time) {
    sum_ += static_cast<double>(time);
    ++count_;
  }
  bool empty() const noexcept { return count_ == 0; }
  double value() const noexcept { return sum_ / static_cast<double>(count_); }

 private:
  double sum_ = 0;
  std::size_t count_ = 0;
};

/// From begin to end, in nanoseconds.
double mean_frame(const std::vector<const run_record*>& runs) {
  mean frame;
  for (const auto* run : runs) {
    for (const auto& of : run->frames) frame.add(of.end - of.begin);
  }
  return frame.value();
}

/// Over all frames of all trials. Nothing for a stage that is not bound by its launches, was not
/// timed that way, or is so short beside a frame that it matters to nobody, as copies of a few
/// bytes are.
std::optional<launch_times> bound_stage(const std::vector<const run_record*>& runs,
                                        std::string_view name) {
  mean enqueue;
  mean device;
  bool busy = false;
  for (const auto* run : runs) {
    for (const auto& stage : run->stages) {
      if (stage.name != name) continue;
      enqueue.add(lengths(stage.enqueued));
      device.add(device_times(stage));
      busy = !stage.busy.empty();
    }
  }
  if (enqueue.empty() || device.empty()) return std::nullopt;
  const launch_times times{enqueue.value(), device.value(), busy};
  if (!is_launch_bound(times)) return std::nullopt;
  constexpr double noticeable = 0.02;
  if (std::max(times.enqueue, times.device) < noticeable * mean_frame(runs)) return std::nullopt;
  return times;
}

/// A stage, with all pipelines in which it is bound.
struct bound_everywhere {
  std::string stage;
  std::vector<configuration_member> where;
  launch_times worst;  ///< by their ratio
};

void note(std::vector<bound_everywhere>& all, const std::string& stage,
          const configuration_member& where, const launch_times& times) {
  for (auto& known : all) {
    if (known.stage != stage) continue;
    known.where.push_back(where);
    if (is_more_launch_bound(times, known.worst)) known.worst = times;
    return;
  }
  all.push_back({stage, {where}, times});
}

}  // namespace

void add_launch_findings(const finding_source& from, findings_list& to) {
  std::vector<bound_everywhere> found;
  for (const auto& what : from.labels.all()) {
    const auto runs = from.runs_of(what);
    if (runs.empty()) continue;
    for (const auto& stage : runs.front()->stages) {
      if (const auto times = bound_stage(runs, stage.name)) {
        note(found, stage.name, what, *times);
      }
    }
  }
  if (found.empty()) return;
  const auto worst = std::max_element(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return is_more_launch_bound(b.worst, a.worst);
  });
  to.push_back(launch_bound_text(
      fmt::format("stage '{}' {}{}", worst->stage, from.labels.where(worst->where),
                  worst->where.size() > 1 ? ", at most" : ""),
      worst->worst, found.size()));
}

}  // namespace graphline
