#include "framework/report/trace/trace_frames.hpp"

#include <algorithm>
#include <numeric>

namespace graphline {

namespace {

nanoseconds end_of(const frame_record& frame) {
  return std::max(frame.begin, frame.end);
}

bool waited(const frame_record& frame) {
  return frame.due < frame.begin;
}

void write_frame(trace_text& to, const run_record& record, std::size_t number, std::size_t row) {
  const frame_record& frame = record.frames[number];
  const nanoseconds taken = end_of(frame) - frame.due;
  const bool late = record.run.deadline && taken > *record.run.deadline;
  to.event("{\"ph\":\"X\",\"cat\":\"frame\",\"name\":\"frame ").number(number);
  to.plain(late ? " late\"" : "\"").plain(",\"args\":{\"frame\":").number(number);
  to.plain(",\"end_to_end_ns\":").number(taken);
  if (waited(frame)) to.plain(",\"queue_wait_ns\":").number(frame.begin - frame.due);
  if (late) to.plain(",\"late_ns\":").number(taken - *record.run.deadline);
  to.plain("}").on({frames_process, first_thread + row}).at(frame.begin);
  to.lasting(end_of(frame) - frame.begin);
  to.plain(",\"cname\":\"").plain(late ? "terrible" : color_of(number)).plain("\"").end_event();
}

void write_wait(trace_text& to, const frame_record& frame, std::size_t number) {
  for (const bool begin : {true, false}) {
    to.event(begin ? "{\"ph\":\"b\"" : "{\"ph\":\"e\"");
    to.plain(",\"cat\":\"queue\",\"name\":\"queue wait\",\"id2\":{\"local\":\"");
    to.number(number).plain("\"}");
    to.on({frames_process, first_thread}).at(begin ? frame.due : frame.begin);
    if (begin) to.plain(",\"args\":{\"frame\":").number(number).plain("}");
    to.end_event();
  }
}

/// How many frames more, or fewer, there are from a moment on.
struct change {
  nanoseconds at = 0;
  int in_flight = 0;
  int waiting = 0;
};

/// Under `drop_oldest` a frame goes when another is due that finds the queue full: as many frames
/// later as the queue holds, since all that wait are due one after the other.
void add_dropped(std::vector<change>& to, const run_record& record) {
  if (record.run.when_full != queue_policy::drop_oldest) return;
  std::vector<nanoseconds> due = record.load.dropped;
  for (const auto& frame : record.frames) due.push_back(frame.due);
  std::sort(due.begin(), due.end());
  const auto room = std::min(static_cast<std::size_t>(record.run.queue), due.size());
  for (const auto at : record.load.dropped) {
    const auto place = std::lower_bound(due.begin(), due.end(), at) - due.begin();
    // What came after the last frame of an interrupted run is not known.
    const auto gone = std::min(static_cast<std::size_t>(place) + room, due.size() - 1);
    to.push_back({at, 0, 1});
    to.push_back({due[gone], 0, -1});
  }
}

std::vector<change> changes_of(const run_record& record) {
  std::vector<change> changes;
  changes.reserve(3 * record.frames.size() + 2 * record.load.dropped.size());
  for (const auto& frame : record.frames) {
    if (waited(frame)) changes.push_back({frame.due, 0, 1});
    changes.push_back({frame.begin, 1, waited(frame) ? -1 : 0});
    changes.push_back({end_of(frame), -1, 0});
  }
  add_dropped(changes, record);
  std::stable_sort(changes.begin(), changes.end(),
                   [](const change& a, const change& b) { return a.at < b.at; });
  return changes;
}

void write_counters(trace_text& to, const run_record& record) {
  const bool queue = record.run.arrival != arrival::closed;
  const auto changes = changes_of(record);
  change now;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    now.in_flight += changes[i].in_flight;
    now.waiting += changes[i].waiting;
    // What changes at one moment is one change.
    if (i + 1 < changes.size() && changes[i + 1].at == changes[i].at) continue;
    to.event("{\"ph\":\"C\",\"name\":\"frames\"")
        .on({frames_process, first_thread})
        .at(changes[i].at);
    to.plain(",\"args\":{\"in flight\":").number(now.in_flight);
    if (queue) to.plain(",\"waiting\":").number(now.waiting);
    to.plain("}").end_event();
  }
}

}  // namespace

std::string_view color_of(std::size_t frame) noexcept {
  // Blue, green, orange, mauve and yellow: red is for frames that are late.
  constexpr std::string_view names[] = {"rail_response", "rail_load", "rail_idle",
                                        "thread_state_uninterruptible", "startup"};
  return names[frame % std::size(names)];
}

frame_rows rows_of(const std::vector<frame_record>& frames) {
  frame_rows rows;
  rows.row.resize(frames.size());
  std::vector<std::size_t> by_begin(frames.size());
  std::iota(by_begin.begin(), by_begin.end(), std::size_t{0});
  std::stable_sort(by_begin.begin(), by_begin.end(),
                   [&](std::size_t a, std::size_t b) { return frames[a].begin < frames[b].begin; });
  std::vector<nanoseconds> free_from;
  for (const std::size_t frame : by_begin) {
    const auto row = std::find_if(free_from.begin(), free_from.end(),
                                  [&](nanoseconds end) { return end <= frames[frame].begin; });
    rows.row[frame] = static_cast<std::size_t>(row - free_from.begin());
    if (row == free_from.end()) {
      free_from.push_back(end_of(frames[frame]));
    } else {
      *row = end_of(frames[frame]);
    }
  }
  rows.count = free_from.size();
  return rows;
}

void write_frames(trace_text& to, const run_record& record, const frame_rows& rows) {
  for (std::size_t i = 0; i < record.frames.size(); ++i) {
    write_frame(to, record, i, rows.row[i]);
    if (waited(record.frames[i])) write_wait(to, record.frames[i], i);
  }
  write_counters(to, record);
  for (const auto due : record.load.dropped) {
    to.event("{\"ph\":\"i\",\"s\":\"p\",\"cat\":\"queue\",\"name\":\"dropped\"");
    to.on({frames_process, first_thread}).at(due).end_event();
  }
}

}  // namespace graphline
