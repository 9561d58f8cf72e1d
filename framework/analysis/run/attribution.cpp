#include "framework/analysis/run/attribution.hpp"

#include <algorithm>
#include <utility>

#include "framework/plan/schedules/schedule.hpp"

namespace graphline {

namespace {

/// What held an activity of a frame back.
struct binder {
  std::optional<std::size_t> activity;  ///< nothing: the begin of the frame
  nanoseconds end = 0;                  ///< of the binder as far as it held back
  /// What lies between that and the activity's begin.
  time_category gap = time_category::worker_wait;
};

/// Decides what held the activities of one frame back: of all that had to end before, what ended
/// last. Each is found once, so that a walk from one to the next ends whatever the stamps are.
class binder_search {
 public:
  /// All arguments must outlive this.
  binder_search(const run_record& record, const frame_activities& done)
      : record_(record),
        schedule_(properties_of(record.run)),
        done_(done),
        // Beyond a quarter of an hour or so a clock is not off but broken.
        clock_error_(std::clamp<nanoseconds>(record.clock_error, 0, nanoseconds{1} << 40)),
        found_(done.all().size(), false) {}

  /// How far stamps of one frame may contradict each other: each that the device has made may be
  /// off by the clocks' error. Nothing for the frame's own begin and end, which are the host's.
  nanoseconds tolerance(std::size_t a, std::optional<std::size_t> b = {}) const {
    const int stamps = (done_[a].by_device ? 1 : 0) + (b && done_[*b].by_device ? 1 : 0);
    return stamps * clock_error_;
  }

  /// What ended last before the end of the frame, and what the time after it is.
  binder of_end(nanoseconds end) {
    const auto& all = done_.all();
    binder result;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].begin > end) continue;
      const nanoseconds seen = std::min(all[i].end, end);
      if (result.activity && seen <= std::min(result.end, end)) continue;
      result.activity = i;
      result.end = std::min(all[i].end, end + tolerance(i));
    }
    // A device stage that nothing follows may have been at work until the host saw it complete.
    bool ends_unseen = !result.activity;
    if (record_.run.timing == timing_method::host) {
      std::vector<bool> followed(record_.stages.size(), false);
      for (std::size_t s = 0; s < record_.stages.size(); ++s) {
        for (const auto& wait : record_.stages[s].waits) {
          if (wait.stage < s) followed[wait.stage] = true;
        }
      }
      for (std::size_t s = 0; s < record_.stages.size(); ++s) {
        ends_unseen = ends_unseen || (record_.stages[s].on == side::device && !followed[s]);
      }
    }
    result.gap = ends_unseen ? time_category::untimed : time_category::completion_delay;
    if (result.activity) found_[*result.activity] = true;
    return result;
  }

  /// What held back an activity.
  binder of(std::size_t index) {
    later_ = index;
    begin_ = done_[index].begin;
    latest_.reset();
    best_ = {};
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

  /// Of two that ended at once, the one considered first.
  void consider(std::optional<std::size_t> earlier, time_category gap, sure is) {
    if (!earlier || found_[*earlier] || *earlier == later_) return;
    const activity& it = done_[*earlier];
    const nanoseconds off = tolerance(later_, earlier);
    if (it.begin > begin_ + off || (is == sure::no && it.end > begin_ + off)) return;
    const nanoseconds end = std::min(it.end, begin_);
    if (latest_ && end <= *latest_) return;
    latest_ = end;
    best_ = {earlier, std::min(it.end, begin_ + off), gap};
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
    best_ = {launch, std::min(it.end, std::max(begin_, it.begin)), time_category::stream_wait};
  }

  /// The host goes on when it has seen a device stage complete, for which the call that launched it
  /// must have returned too.
  void consider_completion(std::size_t stage) {
    const auto work = done_.work_of(stage);
    const bool seen_at_once = work && !done_[*work].by_device;
    consider(work, seen_at_once ? time_category::worker_wait : time_category::completion_delay,
             sure::yes);
    consider(done_.launch_of(stage), time_category::completion_delay, sure::yes);
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

  void consider_for_host() {
    const std::size_t stage = done_[later_].stage;
    for (const auto& wait : record_.stages[stage].waits) {
      if (wait.stage >= stage) continue;
      if (wait.how == satisfied_by::completion) {
        consider_completion(wait.stage);
      } else if (wait.how == satisfied_by::cpu_return || !done_.launch_of(wait.stage)) {
        consider(done_.work_of(wait.stage), time_category::worker_wait, sure::yes);
      } else {
        // Under `overlap` a launch follows those of the device stages that it waits for.
        consider(done_.launch_of(wait.stage), time_category::worker_wait, sure::yes);
      }
    }
    if (schedule_.waits_each) {
      // The host has waited for each device stage before it came here: the last of them tells.
      for (std::size_t s = stage; s-- > 0;) {
        if (record_.stages[s].on != side::device) continue;
        consider_completion(s);
        break;
      }
    }
    consider(done_.before_in_lane(later_, 0), time_category::worker_wait, sure::no);
    if (waits_unseen()) best_.gap = time_category::untimed;
  }

  /// Whether the host waits here for a device stage whose end is not timed.
  bool waits_unseen() const {
    if (record_.run.timing != timing_method::host) return false;
    const std::size_t stage = done_[later_].stage;
    if (schedule_.waits_each) {
      return stage > 0 && record_.stages[stage - 1].on == side::device;
    }
    const auto& waits = record_.stages[stage].waits;
    return std::any_of(waits.begin(), waits.end(), [](const wait_record& wait) {
      return wait.how == satisfied_by::completion;
    });
  }

  const run_record& record_;
  schedule_properties schedule_;
  const frame_activities& done_;
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
  critical_path_walk(const run_record& record, const run_lanes& lanes, std::size_t frame)
      : record_(record),
        lanes_(lanes),
        frame_(frame),
        due_(sound_time(record.frames[frame].due)),
        begin_(sound_time(record.frames[frame].begin)),
        end_(sound_time(record.frames[frame].end)),
        done_(record, lanes, frame),
        search_(record, done_) {}

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
      explain_gap(index, by.activity ? std::max(by.end, begin_) : begin_, by.gap);
      if (!by.activity) return;
    }
  }

  /// The time from `from` until the host had seen the frame's end. Where one thread drives all
  /// frames, it may have been busy with others first.
  void explain_end(nanoseconds from, time_category gap) {
    if (gap == time_category::completion_delay && properties_of(record_.run).one_host_thread()) {
      if (const auto busy = lanes_.busy_until(lanes_.of_main(), from, explained_)) {
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

  /// The time from `from` until an activity began. A thread may have been busy in it.
  void explain_gap(std::size_t index, nanoseconds from, time_category gap) {
    const activity& later = done_[index];
    const bool of_graph = later.what == activity::kind::frame_launch;
    const auto waiter = of_graph ? std::nullopt : std::optional(later.stage);
    if (gap == time_category::stream_wait || gap == time_category::untimed)
      return wait_up_to(from, gap, waiter);
    const auto turn = of_graph ? std::nullopt : turn_after(later.stage, from);
    if (turn) gap = time_category::worker_wait;
    const nanoseconds free = turn.value_or(from);
    if (later.lane) {
      if (const auto busy = lanes_.busy_until(*later.lane, free, explained_)) {
        wait_up_to(*busy, gap, waiter);
        gap = time_category::worker_wait;
      }
    }
    wait_up_to(free, gap, waiter);
    wait_up_to(from, time_category::previous_frame_wait, waiter);
  }

  /// When the same stage was through with the frame before, if that was after `from`.
  std::optional<nanoseconds> turn_after(std::size_t stage, nanoseconds from) const {
    if (frame_ == 0) return std::nullopt;
    const auto& of = record_.stages[stage];
    for (const auto* column : {&of.cpu, &of.synced, &of.enqueued}) {
      const auto stamps = sound_stamps(*column, frame_ - 1);
      if (!stamps) continue;
      if (stamps->end > from && stamps->end <= explained_) return stamps->end;
    }
    return std::nullopt;
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
  std::size_t frame_;
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

attributor::attributor(const run_record& record) : record_(record), lanes_(record) {}

frame_attribution attributor::of(std::size_t frame) const {
  return critical_path_walk(record_, lanes_, frame).pieces();
}

}  // namespace graphline
