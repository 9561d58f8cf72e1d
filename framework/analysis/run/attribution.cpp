#include "framework/analysis/run/attribution.hpp"

#include <algorithm>
#include <utility>

#include "framework/analysis/run/binder_search.hpp"
#include "framework/analysis/run/frame_activities.hpp"

namespace graphline {

namespace {

/// The way back from the end of a frame to when it was due.
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
    if (gap == time_category::completion_delay && record_.run.strategy != strategy::overlap) {
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
