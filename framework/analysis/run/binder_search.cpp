#include "framework/analysis/run/binder_search.hpp"

#include <algorithm>

namespace graphline {

binder_search::binder_search(const run_record& record, const frame_activities& done)
    : record_(record),
      done_(done),
      // Beyond a quarter of an hour or so a clock is not off but broken.
      clock_error_(std::clamp<nanoseconds>(record.clock_error, 0, nanoseconds{1} << 40)),
      found_(done.all().size(), false) {}

nanoseconds binder_search::tolerance(std::size_t a, std::optional<std::size_t> b) const {
  const int stamps = (done_[a].by_device ? 1 : 0) + (b && done_[*b].by_device ? 1 : 0);
  return stamps * clock_error_;
}

binder binder_search::of_end(nanoseconds end) {
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

binder binder_search::of(std::size_t index) {
  later_ = index;
  begin_ = done_[index].begin;
  latest_.reset();
  best_ = {};
  const activity& later = done_[index];
  const bool in_frame_graph = record_.run.graphs == graph_mode::frame;
  if (later.what == activity::kind::stage && (later.by_device || in_frame_graph)) {
    consider_for_device();
  } else if (later.what != activity::kind::frame_launch) {
    consider_for_host();
  }
  if (best_.activity) found_[*best_.activity] = true;
  return best_;
}

/// Of two that ended at once, the one considered first.
void binder_search::consider(std::optional<std::size_t> earlier, time_category gap, sure is) {
  if (!earlier || found_[*earlier] || *earlier == later_) return;
  const activity& it = done_[*earlier];
  const nanoseconds off = tolerance(later_, earlier);
  if (it.begin > begin_ + off || (is == sure::no && it.end > begin_ + off)) return;
  const nanoseconds end = std::min(it.end, begin_);
  if (latest_ && end <= *latest_) return;
  latest_ = end;
  best_ = {earlier, std::min(it.end, begin_ + off), gap};
}

/// A stage may begin before the call that launches it has returned: the launch holds it back up to
/// there. But where something else that it waits for has ended during the call, the stage was
/// launched by then: its first operation is handed over early in the call.
void binder_search::consider_launch(std::optional<std::size_t> launch) {
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
void binder_search::consider_completion(std::size_t stage) {
  const auto work = done_.work_of(stage);
  const bool seen_at_once = work && !done_[*work].by_device;
  consider(work, seen_at_once ? time_category::worker_wait : time_category::completion_delay,
           sure::yes);
  consider(done_.launch_of(stage), time_category::completion_delay, sure::yes);
}

void binder_search::consider_for_device() {
  const std::size_t stage = done_[later_].stage;
  const bool in_frame_graph = record_.run.graphs == graph_mode::frame;
  const auto& waits = record_.stages[stage].waits;
  best_.gap = time_category::untimed;  // before what nothing is known of
  for (const auto& wait : waits) {
    const bool on_device =
        wait.how == satisfied_by::stream_order || wait.how == satisfied_by::event_wait;
    if (wait.stage >= stage || (!on_device && !in_frame_graph)) continue;
    consider(done_.work_of(wait.stage), time_category::stream_wait, sure::yes);
  }
  consider(done_.before_in_lane(later_, tolerance(later_, later_)), time_category::stream_wait,
           sure::no);
  consider_launch(in_frame_graph && waits.empty() ? done_.frame_launch() : done_.launch_of(stage));
}

void binder_search::consider_for_host() {
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
  if (record_.run.strategy == strategy::serial) {
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
bool binder_search::waits_unseen() const {
  if (record_.run.timing != timing_method::host) return false;
  const std::size_t stage = done_[later_].stage;
  if (record_.run.strategy == strategy::serial) {
    return stage > 0 && record_.stages[stage - 1].on == side::device;
  }
  const auto& waits = record_.stages[stage].waits;
  return std::any_of(waits.begin(), waits.end(),
                     [](const wait_record& wait) { return wait.how == satisfied_by::completion; });
}

}  // namespace graphline
