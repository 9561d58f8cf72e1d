#include "framework/analysis/run/attribution.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "framework/plan/schedules/schedule.hpp"

namespace graphline {

namespace {

/// What an activity of a frame waited for last, and until when.
struct binder {
  std::optional<std::size_t> activity;  ///< empty: the begin of the frame
  nanoseconds end = 0;                  ///< of `activity`, as far as it delayed the later one
  time_category gap = time_category::worker_wait;  ///< from there until the host could go on
  nanoseconds ready = 0;  ///< the host could go on; from then the activity waited for its thread
};

/// Finds the binder of each activity of one frame. Each activity binds once at most, so that a walk
/// from one to the next ends whatever the stamps are.
class binder_search {
 public:
  /// `ends`: device stages that no stage waits for. All arguments must outlive this.
  binder_search(const run_record& record, const std::vector<std::size_t>& ends,
                const frame_activities& done, std::size_t frame)
      : record_(record),
        ends_(ends),
        schedule_(properties_of(record.run)),
        done_(done),
        frame_(frame),
        frame_begin_(sound_time(record.frames[frame].begin)),
        // A clock that is off by more than a quarter of an hour is broken.
        clock_error_(std::clamp<nanoseconds>(record.clock_error, 0, nanoseconds{1} << 40)),
        found_(done.all().size(), false) {}

  /// How far stamps of one frame may contradict each other: by the clocks' error for each that the
  /// device made. Zero for the frame's own begin and end, which are the host's.
  nanoseconds tolerance(std::size_t a, std::optional<std::size_t> b = {}) const {
    const int stamps = (done_[a].by_device ? 1 : 0) + (b && done_[*b].by_device ? 1 : 0);
    return stamps * clock_error_;
  }

  /// The binder of the frame's end: the stage that the host waited for last, where the record says,
  /// else the activity that ended last.
  binder of_end(nanoseconds end) {
    binder result;
    result.ready = end;
    result.gap = time_category::completion_delay;
    const auto by = value_at(record_.ended_by, frame_);
    if (!by || *by >= record_.stages.size()) {
      for (std::size_t i = 0; i < done_.all().size(); ++i) bind_end(i, end, result);
    } else if (record_.stages[*by].on == side::cpu) {
      result.gap = time_category::worker_wait;
      bind_end(done_.work_of(*by), end, result);
    } else {
      // One host thread sees only that all device stages are complete, not which was the last.
      const std::size_t alone[] = {*by};
      for (const std::size_t s : schedule_.in_order ? std::span(ends_) : std::span(alone)) {
        const auto work = done_.work_of(s);
        if (!work) result.gap = time_category::untimed;
        bind_end(work, end, result);
        bind_end(done_.launch_of(s), end, result);
      }
    }
    if (!result.activity) result.gap = time_category::untimed;
    if (result.activity) found_[*result.activity] = true;
    return result;
  }

  /// The binder of an activity.
  binder of(std::size_t index) {
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
  enum class sure { yes, no };  ///< that it had to end before, whatever the stamps say

  template <class T>
  static std::optional<T> value_at(const std::vector<T>& column, std::size_t frame) {
    return frame < column.size() ? std::optional(column[frame]) : std::nullopt;
  }

  void bind_end(std::optional<std::size_t> activity, nanoseconds end, binder& result) const {
    if (!activity || done_[*activity].begin > end) return;
    const nanoseconds seen = std::min(done_[*activity].end, end);
    if (result.activity && seen <= std::min(result.end, end)) return;
    result.activity = activity;
    result.end = std::min(done_[*activity].end, end + tolerance(*activity));
  }

  /// Keeps the one that ended last; of two that ended at once, the one considered first.
  bool consider(std::optional<std::size_t> earlier, time_category gap, sure is) {
    if (!earlier || found_[*earlier] || *earlier == later_) return false;
    const activity& it = done_[*earlier];
    const nanoseconds off = tolerance(later_, earlier);
    if (it.begin > begin_ + off || (is == sure::no && it.end > begin_ + off)) return false;
    const nanoseconds end = std::min(it.end, begin_);
    if (latest_ && end <= *latest_) return false;
    latest_ = end;
    best_ = {earlier, std::min(it.end, begin_ + off), gap, begin_};
    return true;
  }

  /// A stage may begin before the call that launches it has returned: the launch holds it back up
  /// to there. But where something else that it waits for has ended during the call, the stage was
  /// launched by then: its first operation is handed over early in the call.
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
    best_.gap = time_category::untimed;  // before what nothing is known of
    for (const auto& wait : waits) {
      const bool on_device =
          wait.how == satisfied_by::stream_order || wait.how == satisfied_by::event_wait;
      if (wait.stage >= stage || (!on_device && !schedule_.one_launch)) continue;
      consider(done_.work_of(wait.stage), time_category::stream_wait, sure::yes);
    }
    consider(done_.before_in_lane(later_, tolerance(later_, later_)), time_category::stream_wait,
             sure::no);
    consider_launch(schedule_.one_launch && waits.empty() ? done_.frame_launch()
                                                          : done_.launch_of(stage));
  }

  /// The cause in the record, then what kept the thread after that. Where the record has no cause,
  /// and behind a wait for the previous frame, the stage that was waited for last.
  void consider_for_host() {
    const std::size_t stage = done_[later_].stage;
    const auto by = value_at(record_.stages[stage].causes, frame_);
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
    const nanoseconds ready = best_.ready;
    const auto before = done_.before_in_lane(later_, 0);
    if (before && done_[*before].end > ready) {
      consider(before, time_category::worker_wait, sure::no);
    }
  }

  /// A stage that the host waited for before it began `later`.
  void consider_cause(std::size_t stage, std::size_t later) {
    if (stage >= later) return;
    const auto work = done_.work_of(stage);
    const auto launch = done_.launch_of(stage);
    if (is_awaited(stage, later)) {
      // The call that launched it must have returned too.
      const auto gap = work ? time_category::completion_delay : time_category::untimed;
      const bool is_last = consider(work, gap, sure::yes);
      if (!consider(launch, gap, sure::yes) && !is_last) return;
      const auto seen = value_at(record_.stages[stage].seen, frame_);
      if (seen) best_.ready = std::clamp(sound_time(*seen), best_.end, std::max(best_.end, begin_));
    } else if (consider(launch ? launch : work, time_category::worker_wait, sure::yes)) {
      best_.ready = best_.end;
    }
  }

  /// Whether the host waits for the completion of a stage, not just for its return.
  bool is_awaited(std::size_t stage, std::size_t later) const {
    if (record_.stages[stage].on == side::cpu) return false;
    const auto& waits = record_.stages[later].waits;
    const auto wait = std::ranges::find(waits, stage, &wait_record::stage);
    return schedule_.in_order || wait == waits.end() || wait->how == satisfied_by::completion;
  }

  /// When the host was done with the same stage in the previous frame.
  std::optional<nanoseconds> end_in_previous_frame(std::size_t stage) const {
    if (frame_ == 0) return std::nullopt;
    const auto& of = record_.stages[stage];
    for (const auto* column : {&of.cpu, &of.synced, &of.enqueued}) {
      const auto stamps = sound_stamps(*column, frame_ - 1);
      if (stamps && stamps->end <= begin_) return stamps->end;
    }
    return std::nullopt;
  }

  const run_record& record_;
  const std::vector<std::size_t>& ends_;
  schedule_properties schedule_;
  const frame_activities& done_;
  std::size_t frame_;
  nanoseconds frame_begin_;
  nanoseconds clock_error_;
  std::vector<bool> found_;

  // Of the search under way.
  std::size_t later_ = 0;
  nanoseconds begin_ = 0;  ///< of `later_`
  std::optional<nanoseconds> latest_;
  binder best_;
};

/// The walk along the critical path, back from the end of a frame to when it was due.
class critical_path_walk {
 public:
  critical_path_walk(const run_record& record, const run_lanes& lanes,
                     const std::vector<std::size_t>& ends, std::size_t frame)
      : record_(record),
        lanes_(lanes),
        due_(sound_time(record.frames[frame].due)),
        begin_(sound_time(record.frames[frame].begin)),
        end_(sound_time(record.frames[frame].end)),
        done_(record, lanes, frame),
        search_(record, ends, done_, frame) {}

  frame_attribution pieces() && {
    explained_ = end_;
    if (record_.run.timing == timing_method::none) {
      wait_up_to(begin_, time_category::untimed, {});
    } else {
      go_back();
    }
    add({time_category::queue_wait, {}, due_, begin_});
    std::reverse(result_.pieces.begin(), result_.pieces.end());
    result_.residual = end_ - due_;
    for (const auto& piece : result_.pieces) result_.residual -= piece.length();
    return std::move(result_);
  }

 private:
  void go_back() {
    binder by = search_.of_end(end_);
    if (!by.activity) return wait_up_to(begin_, by.gap, {});
    explain_end(std::max(by.end, begin_), by.gap);
    while (true) {
      const std::size_t index = *by.activity;
      pass(index, by.end);
      by = search_.of(index);
      explain_gap(index, by);
      if (!by.activity) return;
    }
  }

  /// The time from `from` until the host had seen the frame's end. Where one thread drives all
  /// frames, it may have been busy with others first.
  void explain_end(nanoseconds from, time_category gap) {
    if (gap == time_category::completion_delay && properties_of(record_.run).one_host_thread()) {
      if (const auto busy = lanes_.main_busy_until(from, explained_)) {
        wait_up_to(*busy, gap, {});
        gap = time_category::worker_wait;
      }
    }
    wait_up_to(from, gap, {});
  }

  /// An activity that held back what comes after it up to `end`.
  void pass(std::size_t index, nanoseconds end) {
    const activity& it = done_[index];
    // What began before the frame did so by the clocks' error at most, or its stamps are unsound.
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

  /// The time between an activity and what it waited for.
  void explain_gap(std::size_t index, const binder& by) {
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

  /// By time from the last to the first. What follows on its like without a gap is one with it.
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
  nanoseconds begin_;
  nanoseconds end_;
  frame_activities done_;
  binder_search search_;
  nanoseconds explained_ = 0;  ///< everything from here to the end
  frame_attribution result_;
};

}  // namespace

std::string in_words(time_category what) {
  std::string text(to_word(what));
  if (const auto last = text.rfind('_'); last != text.npos) text[last] = ' ';
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

attributor::attributor(const run_record& record) : record_(record), lanes_(record) {
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
  return critical_path_walk(record_, lanes_, ends_, frame).pieces();
}

}  // namespace graphline
