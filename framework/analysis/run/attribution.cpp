#include "framework/analysis/run/attribution.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "framework/analysis/run/ready_times.hpp"
#include "framework/plan/schedules/schedule.hpp"

namespace graphline {

namespace {

/// The earlier activity that an activity of a frame waited for last.
struct blocker {
  std::optional<std::size_t> activity;  ///< empty for the frame's begin
  nanoseconds end = 0;                  ///< time until which `activity` delayed the later activity
  time_category gap = time_category::worker_wait;  ///< category of the time from `end` to `ready`
  nanoseconds ready = 0;  ///< when the host could continue; the activity then waited for a thread
};

/// Finds the blocker of each activity of one frame. Returns an activity as blocker at most once, so
/// that a walk along blockers terminates for arbitrary stamps.
class blocker_search {
 public:
  /// @param ends Device stages that no stage waits for.
  /// @param begin Begin of the pass.
  /// @pre All arguments outlive this object.
  blocker_search(const run_record& record, const std::vector<std::size_t>& ends,
                 const frame_activities& done, std::size_t pass, nanoseconds begin)
      : record_(record),
        ends_(ends),
        schedule_(properties_of(record.run)),
        done_(done),
        pass_(pass),
        frame_begin_(begin),
        // A clock error above 18 minutes indicates a broken clock.
        clock_error_(std::clamp<nanoseconds>(record.clock_error, 0, nanoseconds{1} << 40)),
        found_(done.all().size(), false) {}

  /// Returns the amount by which two stamps of a frame may contradict each other: the clock error
  /// per device stamp. Without `b`, the second stamp is the frame's begin or end, a host stamp.
  nanoseconds tolerance(std::size_t a, std::optional<std::size_t> b = {}) const {
    const int stamps = (done_[a].by_device ? 1 : 0) + (b && done_[*b].by_device ? 1 : 0);
    return stamps * clock_error_;
  }

  /// Returns the blocker of the frame's end. This is the stage that the host waited for last, if
  /// the record names it, or else the activity that ended last.
  blocker of_end(nanoseconds end) {
    blocker result;
    result.ready = end;
    result.gap = time_category::completion_delay;
    const auto by = value_at(record_.ended_by, pass_);
    if (!by || *by >= record_.stages.size()) {
      for (std::size_t i = 0; i < done_.all().size(); ++i) consider_for_end(i, end, result);
    } else if (record_.stages[*by].on == side::cpu) {
      result.gap = time_category::worker_wait;
      consider_for_end(done_.work_of(*by), end, result);
    } else {
      // A single host thread waits for all final device stages, so any of them can be the last.
      const std::size_t alone[] = {*by};
      for (const std::size_t s : schedule_.in_order ? std::span(ends_) : std::span(alone)) {
        const auto work = done_.work_of(s);
        if (!work) result.gap = time_category::untimed;
        consider_for_end(work, end, result);
        consider_for_end(done_.launch_of(s), end, result);
      }
    }
    if (!result.activity) result.gap = time_category::untimed;
    if (result.activity) found_[*result.activity] = true;
    return result;
  }

  blocker of(std::size_t index) {
    later_ = index;
    begin_ = done_[index].begin;
    latest_.reset();
    best_ = {};
    best_.ready = begin_;
    const activity& later = done_[index];
    if (later.what == activity::kind::stage && (later.by_device || schedule_.one_launch)) {
      consider_for_device();
    } else if (later.what != activity::kind::frame_launch) {
      consider_for_host();
    }
    if (best_.activity) found_[*best_.activity] = true;
    return best_;
  }

 private:
  /// Evidence that an activity precedes another: a dependency, or only stamps.
  enum class order { known, by_stamps };

  template <class T>
  static std::optional<T> value_at(const std::vector<T>& column, std::size_t pass) {
    return pass < column.size() ? std::optional(column[pass]) : std::nullopt;
  }

  void consider_for_end(std::optional<std::size_t> activity, nanoseconds end,
                        blocker& result) const {
    if (!activity || done_[*activity].begin > end) return;
    const nanoseconds seen = std::min(done_[*activity].end, end);
    if (result.activity && seen <= std::min(result.end, end)) return;
    result.activity = activity;
    result.end = std::min(done_[*activity].end, end + tolerance(*activity));
  }

  /// If an activity ended later than the best blocker so far, makes it the best and returns true.
  bool consider(std::optional<std::size_t> earlier, time_category gap, order by) {
    if (!earlier || found_[*earlier] || *earlier == later_) return false;
    const activity& it = done_[*earlier];
    const nanoseconds off = tolerance(later_, earlier);
    if (it.begin > begin_ + off || (by == order::by_stamps && it.end > begin_ + off)) return false;
    const nanoseconds end = std::min(it.end, begin_);
    if (latest_ && end <= *latest_) return false;
    latest_ = end;
    best_ = {earlier, std::min(it.end, begin_ + off), gap, begin_};
    return true;
  }

  /// Considers the launch of a device stage. A stage can begin before its launch call returns,
  /// because the call submits the first operation early. The launch is then compared by its begin,
  /// so that an activity that ended during the call takes precedence.
  void consider_launch(std::optional<std::size_t> launch) {
    if (!launch || found_[*launch]) return;
    const activity& it = done_[*launch];
    if (it.begin > begin_ + tolerance(later_)) return;
    const nanoseconds end = it.end <= begin_ ? it.end : std::min(it.begin, begin_);
    if (latest_ && end <= *latest_) return;
    latest_ = end;
    best_ = {launch, std::min(it.end, std::max(begin_, it.begin)), time_category::stream_wait,
             begin_};
  }

  void consider_for_device() {
    const std::size_t stage = done_[later_].stage;
    const auto& waits = record_.stages[stage].waits;
    best_.gap = time_category::untimed;  // if no earlier activity is known
    for (const auto& wait : waits) {
      const bool on_device =
          wait.how == satisfied_by::stream_order || wait.how == satisfied_by::event_wait;
      if (wait.stage >= stage || (!on_device && !schedule_.one_launch)) continue;
      consider(done_.work_of(wait.stage), time_category::stream_wait, order::known);
    }
    consider(done_.before_in_lane(later_, tolerance(later_, later_)), time_category::stream_wait,
             order::by_stamps);
    consider_launch(schedule_.one_launch && waits.empty() ? done_.frame_launch()
                                                          : done_.launch_of(stage));
  }

  /// Considers the cause that the record names. If the record names no cause or the previous frame,
  /// considers all stages that the stage waits for. Then considers later activities that kept the
  /// thread busy.
  void consider_for_host() {
    const std::size_t stage = done_[later_].stage;
    const auto by = value_at(record_.stages[stage].causes, pass_);
    best_.ready = frame_begin_;
    if (by && *by >= 0) {
      consider_cause(static_cast<std::size_t>(*by), stage);
    } else if (by != cause::frame_begun) {
      for (const auto& wait : record_.stages[stage].waits) consider_cause(wait.stage, stage);
    }
    if (by == cause::previous_frame) {
      best_.gap = time_category::previous_frame_wait;
      const nanoseconds in_frame = best_.activity ? best_.end : frame_begin_;
      best_.ready = std::max(in_frame, end_in_previous_frame(stage).value_or(in_frame));
    }
    if (by == cause::dropped_frame) {
      best_.gap = time_category::untimed;
      best_.ready = begin_;
    }
    if (by == cause::other_rank) {
      // The other rank may have waited for what this one sent, and the thread for what it did
      // before.
      if (schedule_.in_order) {
        consider(done_.before_in_lane(later_, 0), time_category::other_rank_wait, order::by_stamps);
      }
      best_.gap = time_category::other_rank_wait;
      best_.ready = begin_;
      return;
    }
    const nanoseconds ready = best_.ready;
    const auto before = done_.before_in_lane(later_, 0);
    if (before && done_[*before].end > ready) {
      consider(before, time_category::worker_wait, order::by_stamps);
    }
    if (record_.run.window > 0 && record_.stages[stage].on == side::device) consider_window(ready);
  }

  /// Considers the device stage whose completion made room in the full window for a launch that
  /// was ready before. Knows the device stages of this frame only. Copies need no room.
  void consider_window(nanoseconds ready) {
    const stage_record& later = record_.stages[done_[later_].stage];
    if (later.copy) return;
    std::optional<std::size_t> last;
    std::vector<stamp_pair> issued;  // from the launch to the completion
    for (std::size_t s = 0; s < record_.stages.size(); ++s) {
      const auto work = done_.work_of(s);
      const auto launch = done_.launch_of(s);
      if (!work || !launch || *launch == later_) continue;
      const stage_record& stage = record_.stages[s];
      if (stage.copy || stage.device_index != later.device_index) continue;
      issued.push_back({done_[*launch].begin, done_[*work].end});
      const nanoseconds end = done_[*work].end;
      if (end <= ready || end > begin_ + tolerance(later_, *work)) continue;
      if (!last || end > done_[*last].end) last = work;
    }
    const auto holds = [&](const stamp_pair& of) {
      return of.begin < done_[*last].end && of.end >= done_[*last].end;
    };
    if (!last || std::ranges::count_if(issued, holds) < record_.run.window) return;
    consider(last, time_category::completion_delay, order::by_stamps);
  }

  /// Considers a stage that the host waited for before the host began `later`.
  void consider_cause(std::size_t stage, std::size_t later) {
    if (stage >= later) return;
    const auto work = done_.work_of(stage);
    const auto launch = done_.launch_of(stage);
    if (is_awaited(record_, stage, later)) {
      // The host also waited for the launch call to return.
      const auto gap = work ? time_category::completion_delay : time_category::untimed;
      const bool is_last = consider(work, gap, order::known);
      if (!consider(launch, gap, order::known) && !is_last) return;
      const auto seen = value_at(record_.stages[stage].seen, pass_);
      if (seen) best_.ready = std::clamp(sound_time(*seen), best_.end, std::max(best_.end, begin_));
    } else if (consider(launch ? launch : work, time_category::worker_wait, order::known)) {
      best_.ready = best_.end;
    }
  }

  /// Returns the time at which the host finished the stage in the previous frame.
  std::optional<nanoseconds> end_in_previous_frame(std::size_t stage) const {
    const auto end = pass_ == 0 ? std::nullopt : call_end(record_.stages[stage], pass_ - 1);
    return end && *end <= begin_ ? end : std::nullopt;
  }

  const run_record& record_;
  const std::vector<std::size_t>& ends_;
  schedule_properties schedule_;
  const frame_activities& done_;
  std::size_t pass_;
  nanoseconds frame_begin_;
  nanoseconds clock_error_;
  std::vector<bool> found_;

  // State of the current search.
  std::size_t later_ = 0;
  nanoseconds begin_ = 0;  ///< begin of `later_`
  std::optional<nanoseconds> latest_;
  blocker best_;
};

/// Walks the critical path back from a frame's end to its due time.
class critical_path_walk {
 public:
  critical_path_walk(const run_record& record, const run_lanes& lanes, const run_passes& passes,
                     const std::vector<std::size_t>& ends, std::size_t frame)
      : record_(record),
        lanes_(lanes),
        due_(sound_time(record.frames[frame].due)),
        joined_(sound_time(passes.joined(frame))),
        begin_(sound_time(record.frames[frame].begin)),
        end_(sound_time(record.frames[frame].end)),
        done_(record, lanes, passes.of(frame)),
        search_(record, ends, done_, passes.of(frame), begin_) {}

  frame_attribution pieces() && {
    explained_ = end_;
    if (record_.run.timing == timing_method::none) {
      wait_up_to(begin_, time_category::untimed, {});
    } else {
      walk();
    }
    add({time_category::batch_wait, {}, joined_, begin_});
    add({time_category::queue_wait, {}, due_, joined_});
    std::reverse(result_.pieces.begin(), result_.pieces.end());
    result_.residual = end_ - due_;
    for (const auto& piece : result_.pieces) result_.residual -= piece.length();
    return std::move(result_);
  }

 private:
  void walk() {
    blocker by = search_.of_end(end_);
    if (!by.activity) return wait_up_to(begin_, by.gap, {});
    explain_end(std::max(by.end, begin_), by.gap);
    while (true) {
      const std::size_t index = *by.activity;
      add_activity(index, by.end);
      by = search_.of(index);
      explain_gap(index, by);
      if (!by.activity) return;
    }
  }

  /// Explains the time from `from` until the host observed the frame's end. A single host thread
  /// may have worked on other frames first.
  void explain_end(nanoseconds from, time_category gap) {
    if (gap == time_category::completion_delay && properties_of(record_.run).one_host_thread()) {
      if (const auto busy = lanes_.main_busy_until(from, explained_)) {
        wait_up_to(*busy, gap, {});
        gap = time_category::worker_wait;
      }
    }
    wait_up_to(from, gap, {});
  }

  /// Adds an activity that delayed its successor until `end`.
  void add_activity(std::size_t index, nanoseconds end) {
    const activity& it = done_[index];
    // Due to the clock error, an activity may begin slightly before its frame.
    const nanoseconds from = std::max(it.begin, begin_ - search_.tolerance(index));
    if (it.what == activity::kind::stage) {
      const auto& stage = record_.stages[it.stage];
      const auto what = stage.on == side::cpu ? time_category::cpu
                        : stage.copy          ? time_category::copy
                                              : time_category::device;
      add({what, it.stage, from, end});
    } else {
      const bool whole = it.what == activity::kind::frame_launch;
      add({time_category::launch, whole ? std::nullopt : std::optional(it.stage), from, end});
    }
    explained_ = std::min(explained_, from);
  }

  void explain_gap(std::size_t index, const blocker& by) {
    const activity& later = done_[index];
    const bool of_graph = later.what == activity::kind::frame_launch;
    const auto waiter = of_graph ? std::nullopt : std::optional(later.stage);
    const nanoseconds from = by.activity ? std::max(by.end, begin_) : begin_;
    wait_up_to(std::max(by.ready, from), time_category::worker_wait, waiter);
    wait_up_to(from, by.gap, waiter);
  }

  void wait_up_to(nanoseconds from, time_category what, std::optional<std::size_t> stage) {
    add({what, stage, from, explained_});
    explained_ = std::min(explained_, from);
  }

  /// Adds the piece before those added so far. Merges adjacent worker waits of a stage.
  void add(const path_piece& piece) {
    if (piece.end <= piece.begin) return;
    auto& pieces = result_.pieces;
    const bool waits = piece.what == time_category::worker_wait && !pieces.empty();
    if (waits && pieces.back().what == piece.what && pieces.back().stage == piece.stage) {
      pieces.back().begin = piece.begin;
    } else {
      pieces.push_back(piece);
    }
  }

  const run_record& record_;
  const run_lanes& lanes_;
  nanoseconds due_;
  nanoseconds joined_;
  nanoseconds begin_;
  nanoseconds end_;
  frame_activities done_;
  blocker_search search_;
  nanoseconds explained_ = 0;  ///< pieces cover the time from here to the end
  frame_attribution result_;
};

}  // namespace

std::string in_words(time_category what) {
  std::string text(to_word(what));
  if (const auto last = text.rfind('_'); last != text.npos) text[last] = ' ';
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

attributor::attributor(const run_record& record)
    : record_(record), lanes_(record), passes_(record) {
  std::vector<bool> followed(record.stages.size(), false);
  for (std::size_t s = 0; s < followed.size(); ++s) {
    for (const auto& wait : record.stages[s].waits) {
      if (wait.stage < s) followed[wait.stage] = true;
    }
  }
  for (std::size_t s = 0; s < followed.size(); ++s) {
    if (record.stages[s].on == side::device && !followed[s]) ends_.push_back(s);
  }
}

frame_attribution attributor::of(std::size_t frame) const {
  return critical_path_walk(record_, lanes_, passes_, ends_, frame).pieces();
}

}  // namespace graphline
