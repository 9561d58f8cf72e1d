#include "framework/analysis/run/launch_waits.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "framework/analysis/run/frame_activities.hpp"
#include "framework/analysis/run/passes.hpp"

namespace graphline {

namespace {

/// Returns the time spans in which the device worked on any stage of any frame.
std::vector<stamp_pair> work_of_device(const run_record& record) {
  std::vector<stamp_pair> work;
  for (const auto& stage : record.stages) {
    for (std::size_t f = 0; f < stage.device.size(); ++f) {
      if (const auto stamps = work_stamps(stage, f)) work.push_back(*stamps);
    }
  }
  return merged(std::move(work));
}

/// Appends the parts of [`from`, `to`) outside `work`.
/// @pre `work` is merged.
void add_gaps(std::vector<stamp_pair>& gaps, const std::vector<stamp_pair>& work, nanoseconds from,
              nanoseconds to) {
  auto at = std::upper_bound(work.begin(), work.end(), from,
                             [](nanoseconds t, const stamp_pair& span) { return t < span.end; });
  while (from < to) {
    const nanoseconds next = at == work.end() ? to : std::clamp(at->begin, from, to);
    if (next > from) gaps.push_back({from, next});
    if (at == work.end()) return;
    from = std::max(from, at->end);
    ++at;
  }
}

/// A device stage that is launched separately. Times are sums over the frames that ran it, in ns.
struct launched_stage {
  std::size_t stage = 0;
  double frames = 0;
  double idle = 0;    ///< device idle time while the host enqueued the stage
  double beside = 0;  ///< time between its events while the host enqueued it
  double enqueue = 0;
  double device = 0;
};

class launch_waits {
 public:
  explicit launch_waits(const run_record& record) : record_(record), work_(work_of_device(record)) {
    for (std::size_t s = 0; s < record.stages.size(); ++s) {
      const auto& stage = record.stages[s];
      if (!stage.enqueued.empty() && !stage.device.empty()) stages_.push_back({.stage = s});
    }
    std::vector<stamp_pair> idle;  // of one frame; several stages may be enqueued concurrently
    const run_passes passes(record);
    passes_ = static_cast<double>(passes.size());
    for (std::size_t f = 0; f < passes.size(); ++f) {
      idle.clear();
      for (auto& one : stages_) add(one, f, idle);
      for (const auto& gap : merged(idle)) idle_ += static_cast<double>(gap.length());
      running_ += static_cast<double>(passes[f].end - passes[f].begin);
    }
  }

  std::optional<finding> device_time_may_hold_waits() const {
    constexpr double most = 0.8;
    std::vector<launched_stage> held;
    for (const auto& one : stages_) {
      const bool told = !record_.stages[one.stage].busy.empty();
      if (!told && one.device > 0 && one.beside >= most * one.device) held.push_back(one);
    }
    if (held.empty()) return std::nullopt;
    const auto worst = *std::ranges::max_element(held, [](const auto& a, const auto& b) {
      return a.enqueue * b.device < b.enqueue * a.device;
    });
    return finding_of("device_time_may_hold_waits", worst, held.size());
  }

  std::optional<finding> device_waits_for_host() const {
    constexpr double worth_telling = 0.05;
    const auto waited = std::ranges::count_if(stages_, [](const auto& of) { return of.idle > 0; });
    const auto doubt = 2.0 * static_cast<double>(record_.clock_error * waited) * passes_;
    if (waited == 0 || idle_ < std::max(worth_telling * running_, doubt)) return std::nullopt;
    const auto worst = *std::ranges::max_element(stages_, {}, &launched_stage::idle);
    return finding_of("device_waits_for_host", worst, static_cast<std::size_t>(waited))
        .with("idle", idle_ / passes_, unit::duration)
        .with("share", idle_ / running_, unit::share);
  }

 private:
  void add(launched_stage& one, std::size_t f, std::vector<stamp_pair>& idle) const {
    const auto& stage = record_.stages[one.stage];
    const auto launch = sound_stamps(stage.enqueued, f);
    const auto span = sound_stamps(stage.device, f);
    const auto work = work_stamps(stage, f);
    if (!launch || !span || !work) return;
    ++one.frames;
    one.enqueue += static_cast<double>(launch->length());
    one.device += static_cast<double>(work->length());
    const auto beside = std::min(launch->end, span->end) - std::max(launch->begin, span->begin);
    one.beside += static_cast<double>(std::max<nanoseconds>(0, beside));
    nanoseconds ready = launch->begin;
    for (const auto& wait : stage.waits) {
      if (wait.stage >= one.stage) continue;
      if (const auto before = work_stamps(record_.stages[wait.stage], f)) {
        ready = std::max(ready, before->end);
      }
    }
    const auto known = idle.size();
    add_gaps(idle, work_, ready, std::min(launch->end, work->end));
    for (auto gap = known; gap < idle.size(); ++gap) {
      one.idle += static_cast<double>(idle[gap].length());
    }
  }

  finding finding_of(std::string_view key, const launched_stage& of, std::size_t stages) const {
    finding made{key, finding_severity::warning, {record_.stages[of.stage].name}};
    made.with("enqueue", of.enqueue / of.frames, unit::duration)
        .with("device", of.device / of.frames, unit::duration);
    if (stages > 1) made.with("stages", stages);
    return made;
  }

  const run_record& record_;
  std::vector<stamp_pair> work_;
  std::vector<launched_stage> stages_;
  double passes_ = 0;
  double idle_ = 0;     ///< device idle time while the host enqueued stages, over all passes
  double running_ = 0;  ///< total time from begin to end of all passes
};

}  // namespace

std::optional<finding> launch_finding(const run_record& record) {
  const launch_waits waits(record);
  if (auto held = waits.device_time_may_hold_waits()) return held;
  return waits.device_waits_for_host();
}

}  // namespace graphline
