#include "framework/report/trace/trace_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "framework/analysis/run/passes.hpp"
#include "framework/analysis/run/timeline.hpp"
#include "framework/base/words.hpp"
#include "framework/record/timing_protocol.hpp"
#include "framework/report/json/common_json.hpp"
#include "framework/report/json/json_text.hpp"
#include "framework/report/json/record_json.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;
using kind = timeline_span::kind;

// ---- Slices that nest ---------------------------------------------------------------------------

struct trace_slice {
  timeline_span span;  ///< begin and end as drawn, so that the slices of a track nest
  std::size_t pass = 0;
  nanoseconds measured = 0;  ///< length according to the stamps
};

/// All slices of a run.
struct trace_slices {
  std::vector<trace_slice> all;  ///< in order of passes, parts after their stage
  std::vector<std::size_t>
      first;  ///< index of each pass's first slice; the last entry is the number of slices
};

bool is_part(const trace_slice& slice) {
  return slice.span.what == timeline_span::kind::part;
}

/// Ends a slice of a stream where the next one begins, because a stream does one thing at a time.
void follow_each_other(std::vector<trace_slice>& all, const std::vector<std::size_t>& lane) {
  for (std::size_t i = 1; i < lane.size(); ++i) {
    auto& before = all[lane[i - 1]].span;
    before.end = std::min(before.end, all[lane[i]].span.begin);
  }
}

/// Ends a slice of a thread where a later slice begins, unless the later slice lies within it.
void nest(std::vector<trace_slice>& all, const std::vector<std::size_t>& lane) {
  std::vector<std::size_t> open;
  for (const std::size_t at : lane) {
    const auto& span = all[at].span;
    while (!open.empty() && all[open.back()].span.end < span.end) {
      auto& around = all[open.back()].span;
      around.end = std::min(around.end, span.begin);
      open.pop_back();
    }
    open.push_back(at);
  }
}

/// Clips the parts of each stage to the stage, without overlap.
void fit_parts(std::vector<trace_slice>& all) {
  nanoseconds from = 0;
  nanoseconds to = 0;
  for (auto& slice : all) {
    auto& span = slice.span;
    if (is_part(slice)) {
      span.begin = std::clamp(span.begin, from, to);
      span.end = std::clamp(span.end, span.begin, to);
      from = span.end;
    } else {
      from = span.begin;
      to = span.end;
    }
  }
}

trace_slices slices_of(const timeline& picture, std::size_t passes) {
  trace_slices result;
  std::vector<std::vector<std::size_t>> lanes(picture.lanes().size());  // slices that are not parts
  for (std::size_t pass = 0; pass < passes; ++pass) {
    result.first.push_back(result.all.size());
    for (auto span : picture.spans_of(pass)) {
      span.end = std::max(span.begin, span.end);
      trace_slice slice{span, pass, span.end - span.begin};
      if (!is_part(slice)) lanes[span.lane].push_back(result.all.size());
      result.all.push_back(slice);
    }
  }
  result.first.push_back(result.all.size());
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    const bool thread = picture.lanes()[lane].what == timeline_lane::kind::thread;
    // If two slices of a thread begin at the same time, the longer one comes first, because it
    // contains the other. On a stream, the shorter one comes first.
    std::stable_sort(lanes[lane].begin(), lanes[lane].end(), [&](std::size_t a, std::size_t b) {
      const auto& x = result.all[a].span;
      const auto& y = result.all[b].span;
      if (x.begin != y.begin) return x.begin < y.begin;
      return thread ? x.end > y.end : x.end < y.end;
    });
    (thread ? nest : follow_each_other)(result.all, lanes[lane]);
  }
  fit_parts(result.all);
  return result;
}

// ---- Events -------------------------------------------------------------------------------------

// Processes of a trace, from top to bottom.
constexpr int frames_process = 1;
constexpr int host_process = 2;
constexpr int device_process = 3;  // of the first device; the others follow

struct track {
  int process = frames_process;
  std::size_t thread = 0;  ///< rows of frames come first, then the lanes
};

std::string json_string(std::string_view text) {
  return json_in_one_line(text);
}

/// Returns a time in microseconds: "1234.567".
std::string microseconds(nanoseconds ns) {
  const auto size = static_cast<std::uint64_t>(ns);
  return fmt::format("{}.{:03}", size / 1000, size % 1000);
}

/// Writes events one by one. A JSON tree of millions of events would be too large.
class event_writer {
 public:
  /// The numbers of threads follow those of all processes: if a thread has the number of its
  /// process, Perfetto makes it the main thread.
  /// @param processes Of all runs.
  event_writer(text_sink& to, std::size_t processes) : to_(to), first_thread_(1 + processes) {}

  /// Begins the events of a run.
  /// @param zero The time shown as 0.
  /// @param processes, threads Of the runs before.
  void begin(nanoseconds zero, std::size_t processes, std::size_t threads) {
    zero_ = zero;
    first_process_ = static_cast<int>(processes);
    first_thread_ += threads;
  }

  int process_of(track on) const noexcept { return first_process_ + on.process; }
  std::size_t number_of(track on) const noexcept { return first_thread_ + on.thread; }
  std::size_t next_arrow() noexcept { return ++arrows_; }

  /// `members`: further members of the event, as JSON without braces.
  void instant(char phase, track on, nanoseconds at, std::string_view members) {
    write(phase, on, "\"ts\":" + microseconds(at - zero_), members);
  }
  void slice(track on, nanoseconds begin, nanoseconds end, std::string_view members) {
    write('X', on,
          fmt::format("\"ts\":{},\"dur\":{}", microseconds(begin - zero_),
                      microseconds(std::max(begin, end) - begin)),
          members);
  }
  /// Writes the name or the sort index of a process or thread.
  void about(track on, std::string_view what, std::string_view key, std::string_view value) {
    write('M', on, fmt::format("\"name\":\"{}\"", what),
          fmt::format("\"args\":{{\"{}\":{}}}", key, value));
  }

 private:
  void write(char phase, track on, std::string_view first, std::string_view members) {
    to_.append(fmt::format("{}{{\"ph\":\"{}\",\"pid\":{},\"tid\":{},{},{}}}", separator_, phase,
                           process_of(on), number_of(on), first, members));
    separator_ = ",\n";
  }

  text_sink& to_;
  nanoseconds zero_ = 0;
  int first_process_ = 0;
  std::size_t first_thread_;
  std::size_t arrows_ = 0;
  std::string_view separator_;
};

/// Returns the run's begin, or an earlier first stamp. Viewers omit negative times.
nanoseconds zero_of(const run_record& record, const trace_slices& slices) {
  nanoseconds zero = 0;
  for (const auto& frame : record.frames) zero = std::min({zero, frame.due, frame.begin});
  for (const auto* times : {&record.load.dropped, &record.load.unfinished}) {
    for (const auto due : *times) zero = std::min(zero, due);
  }
  for (const auto& slice : slices.all) zero = std::min(zero, slice.span.begin);
  return zero;
}

std::string origin(const run_record& record, nanoseconds zero) {
  const json origin = {
      {"pipeline", record.pipeline},
      {"description", record.description},
      {"time", zero == 0 ? std::string("0 is the beginning of the run")
                         : fmt::format("0 is {} ns before the beginning of the run", -zero)},
      {"clock_error_ns", record.clock_error},
      {"clock_drift_ns", record.clock_drift},
      {"clock_error_is", "of stamps of the device on the host's clock, at most; drift taken out"},
      {"stage_time_is", traits_of(record.run.timing).meaning},
      {"parameters", texts_json(record.parameters)},
      {"settings", part_json(record.run)},
      {"device", part_json(record.device)},
      {"environment", texts_json(record.environment)},
      {"warnings", record.warnings}};
  return json_in_one_line(origin);
}

// ---- Tracks -------------------------------------------------------------------------------------

/// Returns the row of each pass, from 0. Uses the fewest rows without overlap.
std::vector<std::size_t> rows_of(const run_passes& passes) {
  std::vector<std::size_t> by_begin(passes.size());
  for (std::size_t i = 0; i < by_begin.size(); ++i) by_begin[i] = i;
  std::ranges::stable_sort(by_begin, {}, [&](std::size_t pass) { return passes[pass].begin; });
  std::vector<std::size_t> rows(passes.size());
  std::vector<nanoseconds> free_from;
  for (const std::size_t pass : by_begin) {
    const auto& one = passes[pass];
    auto row = std::ranges::find_if(free_from, [&](nanoseconds free) { return free <= one.begin; });
    if (row == free_from.end()) row = free_from.insert(row, 0);
    *row = std::max(one.begin, one.end);
    rows[pass] = static_cast<std::size_t>(row - free_from.begin());
  }
  return rows;
}

std::vector<track> tracks_of(const std::vector<timeline_lane>& lanes, std::size_t rows) {
  std::vector<track> tracks;
  for (const auto& lane : lanes) {
    const bool thread = lane.what == timeline_lane::kind::thread;
    tracks.push_back({thread ? host_process : device_process + static_cast<int>(lane.device),
                      rows + tracks.size()});
  }
  return tracks;
}

/// `on`: an existing track of the process. A viewer would add a missing track.
void name_process(event_writer& to, track on, std::string_view name) {
  to.about(on, "process_name", "name", json_string(name));
  to.about(on, "process_sort_index", "sort_index", fmt::to_string(to.process_of(on)));
}

void name_track(event_writer& to, track on, std::string_view name) {
  to.about(on, "thread_name", "name", json_string(name));
  to.about(on, "thread_sort_index", "sort_index", fmt::to_string(to.number_of(on)));
}

/// @param of Beginning of the names of processes.
void name_everything(event_writer& to, const run_record& record,
                     const std::vector<timeline_lane>& lanes, const std::vector<track>& tracks,
                     std::size_t rows, const std::string& of) {
  name_process(to, {}, of + "frames");
  for (std::size_t row = 0; row < rows; ++row) {
    name_track(to, {frames_process, row}, fmt::format("in flight {}", row + 1));
  }
  const auto device_name = [&](std::size_t d) {
    if (record.devices.empty()) {
      return fmt::format("device {}: {}", record.device.backend, record.device.name);
    }
    const device_record& of = record.devices[d];
    return fmt::format("device {}: {}, {}", of.name, of.properties.backend, of.properties.name);
  };
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (i == 0 || tracks[i].process != tracks[i - 1].process) {
      const bool host = tracks[i].process == host_process;
      name_process(to, tracks[i], of + (host ? "host" : device_name(lanes[i].device)));
    }
    name_track(to, tracks[i], lanes[i].name);
  }
}

// ---- What is written ----------------------------------------------------------------------------

/// Writes the slice of a batch, whose frames begin and end together.
void write_batch(event_writer& to, const run_passes& passes, std::size_t pass, track on) {
  const auto first = passes.first_frame(pass);
  to.slice(on, passes[pass].begin, passes[pass].end,
           fmt::format("\"cat\":\"frame\",\"name\":\"frames {} to {}\","
                       "\"args\":{{\"frame\":{},\"frames\":{}}}",
                       first, first + passes.frames_in(pass) - 1, first, passes.frames_in(pass)));
}

void write_frames(event_writer& to, const run_record& record, const run_passes& passes,
                  const std::vector<std::size_t>& rows) {
  for (std::size_t i = 0; i < record.frames.size(); ++i) {
    const auto [due, begin, end] = record.frames[i];
    const nanoseconds taken = std::max(begin, end) - due;
    const std::size_t pass = passes.of(i);
    const track on = {frames_process, rows[pass]};
    if (passes.frames_in(pass) == 1) {
      to.slice(
          on, begin, end,
          fmt::format("\"cat\":\"frame\",\"name\":\"frame {}{}\","
                      "\"args\":{{\"frame\":{},\"end_to_end_ns\":{}}}",
                      i, taken > record.run.deadline.value_or(taken) ? " late" : "", i, taken));
    } else if (passes.first_frame(pass) == i) {
      write_batch(to, passes, pass, on);
    }
    const auto mark = [&](nanoseconds at, std::string_view what) {
      to.instant('i', on, at,
                 fmt::format(R"("s":"t","cat":"frame","name":"frame {} {}")", i, what));
    };
    if (record.run.arrival != arrival::closed) mark(due, "due");
    if (record.run.deadline) mark(due + *record.run.deadline, "deadline");
    const auto wait = [&](std::string_view name, nanoseconds from, nanoseconds until) {
      if (from >= until) return;
      const auto members =
          fmt::format("\"cat\":\"queue\",\"name\":\"{}\",\"id2\":{{\"local\":\"{}\"}}", name, i);
      to.instant('b', {}, from, members);
      to.instant('e', {}, until, members);
    };
    const nanoseconds joined = passes.joined(i);
    wait("queue wait", due, joined);
    wait("batch wait", joined, begin);
  }
  for (const auto due : record.load.dropped) {
    to.instant('i', {}, due, "\"s\":\"p\",\"cat\":\"queue\",\"name\":\"dropped\"");
  }
  for (const auto due : record.load.unfinished) {
    to.instant('i', {}, due, "\"s\":\"p\",\"cat\":\"queue\",\"name\":\"unfinished\"");
  }
}

/// Returns the first members of a slice, up to the frame number.
std::string head_of(const run_record& record, const timeline_span& span) {
  if (!span.stage) return "\"cat\":\"launch\",\"name\":\"launch frame\",\"args\":{\"frame\":";
  const auto& stage = record.stages[*span.stage];
  if (span.what == kind::part) {
    const auto& part = stage.parts[span.part];
    return fmt::format("\"cat\":\"part\",\"name\":{},\"args\":{{\"choice\":{},\"frame\":",
                       json_string(part.name), json_string(part.choice));
  }
  const bool launch = span.what == kind::launch;
  const bool by_kind = launch || span.what == kind::copy || span.what == kind::held;
  const std::string_view is = by_kind                     ? to_word(span.what)
                              : span.what == kind::synced ? "synchronized"
                                                          : "stage";
  auto head = fmt::format("\"cat\":\"{}\",\"name\":{},\"args\":{{\"kind\":{},", is,
                          json_string((launch ? "launch " : "") + stage.name +
                                      (span.what == kind::held ? " (held up)" : "")),
                          json_string(stage.kind));
  if (stage.on == side::device) head += fmt::format(R"("priority":"{}",)", to_word(stage.priority));
  return head + "\"frame\":";
}

/// Returns the members about the rows of a pass, each after a comma.
std::string rows_members(const run_record& record, const timeline_span& span, std::size_t pass) {
  if (!span.stage) return "";
  const auto& stage = record.stages[*span.stage];
  if (stage.capacity == 0 || stage.rows.empty()) return "";
  auto members = fmt::format(",\"rows\":{}", stage.rows[pass]);
  if (stage.buckets.empty()) return members;
  return members + fmt::format(",\"bucket\":{}", stage.buckets[bucket_of(stage, pass)].rows);
}

/// Returns the member about a start that the policy decided, after a comma; empty for others.
std::string choice_member(const run_record& record, const timeline_span& span) {
  const std::int32_t other = span.instead_of;
  if (other == 0) return "";
  if (other == choice::held_back) return ",\"held back\":true";
  return ",\"instead of\":" +
         json_string(other < 0 ? "a stage of another pipeline"
                               : record.stages[static_cast<std::size_t>(other) - 1].name);
}

/// Marks the times at which the host decided that a frame does not run a stage.
void write_skipped(event_writer& to, const run_record& record, const run_passes& passes,
                   const timeline& picture, const std::vector<track>& tracks) {
  for (std::size_t pass = 0; pass < passes.size(); ++pass) {
    for (const auto& span : picture.skipped_in(pass)) {
      const auto& stage = record.stages[*span.stage];
      const bool skip = span.what == kind::skip;
      to.instant('i', tracks[span.lane], span.begin,
                 fmt::format(R"("s":"t","cat":"skipped","name":{},"args":{{"frame":{}}})",
                             json_string(stage.name + (skip ? " skipped" : " has no rows")),
                             passes.first_frame(pass)));
    }
  }
}

void write_slices(event_writer& to, const run_record& record, const run_passes& passes,
                  const trace_slices& slices, const std::vector<track>& tracks) {
  for (const auto& [span, pass, measured] : slices.all) {
    auto members = head_of(record, span) + fmt::to_string(passes.first_frame(pass));
    members += rows_members(record, span, pass) + choice_member(record, span);
    if (measured != span.end - span.begin) {
      const bool host = tracks[span.lane].process == host_process;
      members += fmt::format(",\"{}\":{}", host ? "host_ns" : "device_ns", measured);
    }
    to.slice(tracks[span.lane], span.begin, span.end, members + "}");
  }
}

// ---- Arrows -------------------------------------------------------------------------------------

/// Slices of a pass that arrows connect. A pointer is null if the slice does not exist.
struct pass_slices {
  const timeline_span* launch = nullptr;       ///< launch of the frame's graph
  std::vector<const timeline_span*> launches;  ///< by stage
  std::vector<const timeline_span*> work;      ///< by stage
};

pass_slices slices_of_pass(const trace_slices& slices, std::size_t pass, std::size_t stages) {
  pass_slices found{nullptr, std::vector<const timeline_span*>(stages),
                    std::vector<const timeline_span*>(stages)};
  for (std::size_t i = slices.first[pass]; i < slices.first[pass + 1]; ++i) {
    const auto& span = slices.all[i].span;
    if (span.what == kind::part) continue;
    if (!span.stage) {
      found.launch = &span;
    } else {
      (span.what == kind::launch ? found.launches : found.work)[*span.stage] = &span;
    }
  }
  return found;
}

/// Writes arrows from launches to device stages, and from stages to their dependents. An arrow to a
/// dependent is named after how the dependent waits. `tracks`: track of each lane.
void write_flows(event_writer& to, const run_record& record, const trace_slices& slices,
                 const std::vector<track>& tracks) {
  const auto arrow = [&](const timeline_span* before, const timeline_span* after,
                         std::string_view category, std::string_view name) {
    // If the clocks' error swapped begin and end, a viewer would reverse the arrow.
    if (before == nullptr || after == nullptr || after->begin < before->begin) return;
    // Viewers attach each end of an arrow to the slice that contains the end. A slice does not
    // contain its own end time. Work may begin before its launch returns.
    const auto start = std::max(before->begin, std::min(before->end - 1, after->begin));
    const auto members =
        fmt::format("\"cat\":\"{}\",\"name\":\"{}\",\"id\":{}", category, name, to.next_arrow());
    to.instant('s', tracks[before->lane], start, members);
    to.instant('f', tracks[after->lane], after->begin, members + ",\"bp\":\"e\"");
  };
  for (std::size_t pass = 0; pass + 1 < slices.first.size(); ++pass) {
    const auto found = slices_of_pass(slices, pass, record.stages.size());
    const auto known = [&](std::size_t stage) {
      return found.work[stage] != nullptr ? found.work[stage] : found.launches[stage];
    };
    for (std::size_t i = 0; i < record.stages.size(); ++i) {
      const auto& waits = record.stages[i].waits;
      arrow(found.launches[i], found.work[i], "launch", "launch");
      if (waits.empty()) arrow(found.launch, found.work[i], "launch", "launch");
      for (const auto& wait : waits) {
        arrow(known(wait.stage), known(i), "edge", to_word(wait.how));
      }
    }
  }
}

/// A run and what is drawn of it.
struct drawn_run {
  explicit drawn_run(const run_record& of)
      : record(of),
        picture(of),
        passes(of),
        slices(slices_of(picture, passes.size())),
        rows(rows_of(passes)),
        in_rows(rows.empty() ? 0 : *std::ranges::max_element(rows) + 1),
        tracks(tracks_of(picture.lanes(), in_rows)),
        zero(zero_of(of, slices)) {}

  std::size_t processes() const noexcept {
    return host_process + std::max<std::size_t>(1, record.devices.size());
  }

  void write(event_writer& to, const std::string& of = "") const {
    name_everything(to, record, picture.lanes(), tracks, in_rows, of);
    write_frames(to, record, passes, rows);
    write_slices(to, record, passes, slices, tracks);
    write_skipped(to, record, passes, picture, tracks);
    // Written last, because an arrow's end binds to the latest slice with the same begin.
    write_flows(to, record, slices, tracks);
  }

  const run_record& record;
  timeline picture;
  run_passes passes;
  trace_slices slices;
  std::vector<std::size_t> rows;  ///< of frames, by pass
  std::size_t in_rows;
  std::vector<track> tracks;
  nanoseconds zero;
};

void begin_trace(text_sink& to, std::string_view origin) {
  to.append(R"({"displayTimeUnit":"ns","otherData":)")
      .append(origin)
      .append(",\"traceEvents\":[\n");
}

constexpr std::string_view end_of_trace = "\n]}\n";

/// A rank whose clock is known.
struct drawn_rank {
  explicit drawn_rank(const rank_record& of, const clock_offset& by)
      : rank(of), clock(by), run(*of.run), begin(*of.run->epoch - by.offset) {}

  const rank_record& rank;
  clock_offset clock;
  drawn_run run;
  nanoseconds begin;  ///< of the run, on the clock of rank 0
};

}  // namespace

void write_trace(text_sink& to, const run_record& record) {
  const drawn_run run(record);
  begin_trace(to, origin(record, run.zero));
  event_writer events(to, run.processes());
  events.begin(run.zero, 0, 0);
  run.write(events);
  to.append(end_of_trace);
}

void write_trace(text_sink& to, const ranks_record& record) {
  std::list<drawn_rank> drawn;
  json ranks = json::array();
  std::size_t processes = 0;
  for (const rank_record& rank : record.ranks) {
    std::optional<clock_offset> clock;
    if (rank.run && has_begun(*rank.run)) clock = clock_of(rank, first_begin(*rank.run));
    if (clock) processes += drawn.emplace_back(rank, *clock).run.processes();
    ranks.push_back({{"rank", rank.rank},
                     {"host", rank.host},
                     {"clock_error_ns", clock ? json(clock->error) : json()},
                     {"shown", clock.has_value()}});
  }
  const auto zero_on_rank_0 = [](const drawn_rank& of) { return of.begin + of.run.zero; };
  const auto first = std::ranges::min_element(drawn, {}, zero_on_rank_0);
  begin_trace(to, json_in_one_line({{"pipeline", first_run(record).pipeline},
                                    {"time", "0 is the beginning of the first run"},
                                    {"ranks", ranks}}));
  event_writer events(to, processes);
  std::size_t before = 0;
  std::size_t threads = 0;
  for (const drawn_rank& of : drawn) {
    events.begin(zero_on_rank_0(*first) - of.begin, before, threads);
    of.run.write(events, name_of(of.rank) + ": ");
    before += of.run.processes();
    threads = of.run.in_rows + of.run.tracks.size();
  }
  to.append(end_of_trace);
}

}  // namespace graphline
