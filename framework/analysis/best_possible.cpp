#include "framework/analysis/best_possible.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "framework/analysis/frame_activities.hpp"
#include "framework/analysis/stage_waits.hpp"

namespace graphline {

namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

const std::vector<stamp_pair>& times_of(const stage_record& stage) {
  if (stage.on == side::cpu) return stage.cpu;
  return stage.device.empty() ? stage.synced : stage.device;
}

/// Stages of one frame, each as early as what it waits for allows.
class earliest_ends {
 public:
  earliest_ends(const run_record& record, std::size_t frame)
      : record_(record), waits_(record), stages_(record.stages.size()) {
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      stages_[s].stamps = sound_stamps(times_of(record.stages[s]), frame).value_or(stamp_pair{});
    }
  }

  best_time of(constraint by) {
    const bool one_thread = by == constraint::plan && record_.run.graphs != graph_mode::frame &&
                            record_.run.strategy != strategy::overlap;
    for (const std::size_t s : by == constraint::plan ? order() : as_planned()) {
      auto& stage = stages_[s];
      const bool on_device = record_.stages[s].on == side::device;
      for (const auto& wait : waits_.of(s)) {
        if (wait.stage < s) start_after(stage, wait.stage);
      }
      if (by == constraint::plan && on_device) {
        auto& last = last_in(record_.stages[s].stream);
        if (last != none) start_after(stage, last);
        last = s;
      }
      if (one_thread && host_ != none) start_after(stage, host_);
      stage.end = stage.start + stage.stamps.length();
      const bool holds_host = !on_device || record_.run.strategy == strategy::serial;
      if (one_thread && holds_host) host_ = s;
    }
    return longest();
  }

 private:
  struct earliest {
    stamp_pair stamps;         ///< as measured
    nanoseconds start = 0;     ///< since the frame's begin
    nanoseconds end = 0;       ///< likewise
    std::size_t after = none;  ///< the stage that made it start no earlier
  };

  void start_after(earliest& stage, std::size_t earlier) {
    const nanoseconds end = stages_[earlier].end;
    if (end < stage.start || (end == stage.start && stage.after != none)) return;
    stage.start = end;
    stage.after = earlier;
  }

  std::vector<std::size_t> as_planned() const {
    std::vector<std::size_t> result(stages_.size());
    for (std::size_t s = 0; s < result.size(); ++s) result[s] = s;
    return result;
  }

  /// The order in which streams had their stages. Under `overlap` that is the one in which these
  /// became ready, as far as no stage comes before one that it waits for.
  std::vector<std::size_t> order() const {
    auto planned = as_planned();
    if (record_.run.strategy != strategy::overlap || record_.run.graphs == graph_mode::frame) {
      return planned;
    }
    std::stable_sort(planned.begin(), planned.end(), [this](std::size_t a, std::size_t b) {
      return stages_[a].stamps.begin < stages_[b].stamps.begin;
    });
    std::vector<std::size_t> result;
    std::vector<bool> placed(planned.size(), false);
    std::vector<std::size_t> open;
    for (const std::size_t first : planned) {
      open.push_back(first);
      while (!open.empty()) {
        const std::size_t s = open.back();
        const auto waits = waits_.of(s);
        const auto missing = std::find_if(waits.begin(), waits.end(), [&](const wait_record& wait) {
          return wait.stage < s && !placed[wait.stage];
        });
        if (!placed[s] && missing != waits.end()) {
          open.push_back(missing->stage);
          continue;
        }
        if (!placed[s]) result.push_back(s);
        placed[s] = true;
        open.pop_back();
      }
    }
    return result;
  }

  std::size_t& last_in(std::string_view stream) {
    for (auto& [name, last] : streams_) {
      if (name == stream) return last;
    }
    return streams_.emplace_back(stream, none).second;
  }

  best_time longest() const {
    std::size_t at = none;
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      if (at == none || stages_[s].end > stages_[at].end) at = s;
    }
    best_time result;
    if (at == none) return result;
    result.time = stages_[at].end;
    for (; at != none; at = stages_[at].after) result.path.push_back(at);
    std::reverse(result.path.begin(), result.path.end());
    if (record_.device.backend == "host") bound_by_device(result);
    return result;
  }

  /// One thing at a time: not less than the device was at work. The stamps of two stages may cross
  /// there, where one that has begun waits for the worker; all of them count as one.
  void bound_by_device(best_time& result) const {
    std::vector<std::size_t> in_turn;
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      if (record_.stages[s].on == side::device) in_turn.push_back(s);
    }
    std::stable_sort(in_turn.begin(), in_turn.end(), [this](std::size_t a, std::size_t b) {
      return stages_[a].stamps.begin < stages_[b].stamps.begin;
    });
    nanoseconds busy = 0;
    std::optional<nanoseconds> until;
    for (const std::size_t s : in_turn) {
      const auto& [begin, end] = stages_[s].stamps;
      const nanoseconds from = until ? std::max(begin, *until) : begin;
      busy += std::max<nanoseconds>(0, end - from);
      until = until ? std::max(*until, end) : end;
    }
    if (busy > result.time) result = {busy, std::move(in_turn)};
  }

  const run_record& record_;
  stage_waits waits_;
  std::vector<earliest> stages_;
  std::vector<std::pair<std::string_view, std::size_t>> streams_;  ///< the last stage of each yet
  std::size_t host_ = none;  ///< what the one host thread was busy with last
};

}  // namespace

best_time best_possible(const run_record& record, std::size_t frame, constraint by) {
  return earliest_ends(record, frame).of(by);
}

}  // namespace graphline
