#include "framework/report/trace/trace_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "framework/analysis/run/timeline.hpp"
#include "framework/base/words.hpp"
#include "framework/report/json/common_json.hpp"
#include "framework/report/trace/trace_frames.hpp"
#include "framework/report/trace/trace_slices.hpp"
#include "framework/report/trace/trace_text.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;
using kind = timeline_span::kind;

/// Text in quotes, as JSON has it. Bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// The run's beginning, or the earliest stamp where one is before that: a viewer would leave out
/// what has a negative time.
nanoseconds zero_of(const run_record& record, const trace_slices& slices) {
  nanoseconds zero = 0;
  for (const auto& frame : record.frames) zero = std::min({zero, frame.due, frame.begin});
  for (const auto due : record.load.dropped) zero = std::min(zero, due);
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
      {"stage_time_is", meaning_of(record.run.timing)},
      {"settings", settings_json(record)},
      {"device", device_json(record.device)},
      {"environment", texts_json(record.environment)},
      {"warnings", record.warnings}};
  return origin.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string device_name(const run_record& record) {
  return fmt::format("device {}: {}", record.device.backend, record.device.name);
}

/// `track` is any of the process, so that a viewer does not make one up.
void name_process(trace_text& to, trace_track track, std::string_view name) {
  to.event("{\"ph\":\"M\",\"name\":\"process_name\"").on(track);
  to.plain(",\"args\":{\"name\":").plain(json_string(name)).plain("}").end_event();
  to.event("{\"ph\":\"M\",\"name\":\"process_sort_index\"").on(track);
  to.plain(",\"args\":{\"sort_index\":").number(track.process).plain("}").end_event();
}

void name_track(trace_text& to, trace_track track, std::string_view name) {
  to.event("{\"ph\":\"M\",\"name\":\"thread_name\"").on(track);
  to.plain(",\"args\":{\"name\":").plain(json_string(name)).plain("}").end_event();
  to.event("{\"ph\":\"M\",\"name\":\"thread_sort_index\"").on(track);
  to.plain(",\"args\":{\"sort_index\":").number(track.thread).plain("}").end_event();
}

std::vector<trace_track> tracks_of(const std::vector<timeline_lane>& lanes, std::size_t rows) {
  std::vector<trace_track> tracks;
  for (const auto& lane : lanes) {
    const bool thread = lane.what == timeline_lane::kind::thread;
    tracks.push_back({thread ? host_process : device_process, first_thread + rows + tracks.size()});
  }
  return tracks;
}

void label_device(trace_text& to, trace_track track, nanoseconds clock_error) {
  to.event("{\"ph\":\"M\",\"name\":\"process_labels\"").on(track);
  to.plain(",\"args\":{\"labels\":\"stamps within ").number(clock_error);
  to.plain(" ns of the host's clock\"}").end_event();
}

void name_everything(trace_text& to, const run_record& record,
                     const std::vector<timeline_lane>& lanes,
                     const std::vector<trace_track>& tracks, std::size_t rows) {
  name_process(to, {frames_process, first_thread}, "frames");
  for (std::size_t row = 0; row < rows; ++row) {
    name_track(to, {frames_process, first_thread + row},
               rows == 1 ? "in flight" : fmt::format("in flight {}", row + 1));
  }
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (i == 0 || tracks[i].process != tracks[i - 1].process) {
      const bool host = tracks[i].process == host_process;
      name_process(to, tracks[i], host ? "host" : device_name(record));
      if (!host) label_device(to, tracks[i], record.clock_error);
    }
    name_track(to, tracks[i], lanes[i].name);
  }
}

/// What all slices of a stage and kind have in common, up to the number of the frame.
std::string head_of(const stage_record& stage, kind what) {
  const bool launch = what == kind::launch;
  const std::string name = launch ? "launch " + stage.name : stage.name;
  const std::string_view is = launch                 ? "launch"
                              : what == kind::copy   ? "copy"
                              : what == kind::synced ? "synchronized"
                                                     : "stage";
  std::string head = fmt::format("{{\"ph\":\"X\",\"cat\":\"{}\",\"name\":{},\"args\":{{\"kind\":{}",
                                 is, json_string(name), json_string(stage.kind));
  if (stage.on == side::device) {
    head += fmt::format(",\"priority\":\"{}\"", to_word(stage.priority));
  }
  return head + ",\"frame\":";
}

std::string head_of(const part_record& part) {
  std::string head = fmt::format("{{\"ph\":\"X\",\"cat\":\"part\",\"name\":{},\"args\":{{",
                                 json_string(part.name));
  if (!part.choice.empty()) head += fmt::format("\"choice\":{},", json_string(part.choice));
  return head + "\"frame\":";
}

/// The beginnings of slices, made once each.
class slice_heads {
 public:
  explicit slice_heads(const run_record& record) {
    for (const auto& stage : record.stages) {
      auto& heads = stages_.emplace_back();
      for (const kind what : {kind::cpu, kind::launch, kind::synced, kind::device, kind::copy}) {
        heads.whole[static_cast<std::size_t>(what)] = head_of(stage, what);
      }
      for (const auto& part : stage.parts) heads.parts.push_back(head_of(part));
    }
  }

  std::string_view operator()(const timeline_span& span) const {
    if (!span.stage) {
      return "{\"ph\":\"X\",\"cat\":\"launch\",\"name\":\"launch frame\",\"args\":{\"frame\":";
    }
    const auto& heads = stages_[*span.stage];
    if (span.what == kind::part) return heads.parts[span.part];
    return heads.whole[static_cast<std::size_t>(span.what)];
  }

 private:
  struct of_stage {
    std::array<std::string, 5> whole;
    std::vector<std::string> parts;
  };
  std::vector<of_stage> stages_;
};

void write_slice(trace_text& to, const trace_slice& slice, std::string_view head,
                 trace_track track) {
  const auto& span = slice.span;
  to.event(head).number(slice.frame);
  if (slice.measured != span.end - span.begin) {
    to.plain(track.process == host_process ? ",\"host_ns\":" : ",\"device_ns\":");
    to.number(slice.measured);
  }
  to.plain("}").on(track).at(span.begin).lasting(span.end - span.begin);
  to.plain(",\"cname\":\"").plain(color_of(slice.frame)).plain("\"").end_event();
}

void write_slices(trace_text& to, const run_record& record, const trace_slices& slices,
                  const std::vector<trace_track>& tracks) {
  const slice_heads heads(record);
  for (std::size_t lane = 0; lane < tracks.size(); ++lane) {
    for (std::size_t at : slices.lanes[lane]) {
      do {
        write_slice(to, slices.all[at], heads(slices.all[at].span), tracks[lane]);
        ++at;
      } while (at < slices.all.size() && slices.all[at].span.what == kind::part);
    }
  }
}

// ---- Arrows
// ---------------------------------------------------------------------------------------

/// The slices of one frame by what they are to its arrows; null where there is none.
struct frame_slices {
  const trace_slice* launch = nullptr;       ///< of the frame's graph
  std::vector<const trace_slice*> launches;  ///< by stage
  std::vector<const trace_slice*> work;  ///< by stage: what it did, its launch if no more is known
};

void find(frame_slices& found, const trace_slices& slices, std::size_t frame, std::size_t stages) {
  found.launch = nullptr;
  found.launches.assign(stages, nullptr);
  found.work.assign(stages, nullptr);
  for (std::size_t i = slices.first[frame]; i < slices.first[frame + 1]; ++i) {
    const trace_slice& slice = slices.all[i];
    if (slice.span.what == kind::part) continue;
    if (!slice.span.stage) {
      found.launch = &slice;
    } else if (slice.span.what == kind::launch) {
      found.launches[*slice.span.stage] = &slice;
    } else {
      found.work[*slice.span.stage] = &slice;
    }
  }
}

class flow_writer {
 public:
  flow_writer(trace_text& to, const std::vector<trace_track>& tracks) : to_(to), tracks_(tracks) {}

  /// `head` is `"cat":...,"name":...`.
  void arrow(const trace_slice* from, const trace_slice* to, std::string_view head) {
    if (from == nullptr || to == nullptr) return;
    const auto& before = from->span;
    const auto& after = to->span;
    // The clock's error has put them in the wrong order: a viewer would turn the arrow round.
    if (after.begin < before.begin) return;
    // Viewers look for the slice around either end, so it must not lie at a slice's own end. Work
    // may begin before its launch has returned.
    const auto start = std::max(before.begin, std::min(before.end - 1, after.begin));
    ++id_;
    point("{\"ph\":\"s\",", head, before.lane, start).end_event();
    point("{\"ph\":\"f\",", head, after.lane, after.begin).plain(",\"bp\":\"e\"").end_event();
  }

 private:
  trace_text& point(std::string_view beginning, std::string_view head, std::size_t lane,
                    nanoseconds at) {
    to_.event(beginning).plain(head).plain(",\"id\":").number(id_);
    return to_.on(tracks_[lane]).at(at);
  }

  trace_text& to_;
  const std::vector<trace_track>& tracks_;
  std::size_t id_ = 0;
};

/// Arrows between slices of each frame: from every stage to those that wait for it, named after how
/// they do, and from launches to what they launched. `tracks` are those of the lanes.
void write_flows(trace_text& to, const run_record& record, const trace_slices& slices,
                 const std::vector<trace_track>& tracks) {
  constexpr std::string_view launch = "\"cat\":\"launch\",\"name\":\"launch\"";
  flow_writer write(to, tracks);
  frame_slices found;
  for (std::size_t frame = 0; frame < record.frames.size(); ++frame) {
    find(found, slices, frame, record.stages.size());
    for (std::size_t i = 0; i < record.stages.size(); ++i) {
      const trace_slice* work = found.work[i];
      write.arrow(found.launches[i], work, launch);
      const auto& waits = record.stages[i].waits;
      if (waits.empty()) write.arrow(found.launch, work, launch);
      for (const auto& wait : waits) {
        const std::string_view how = to_word(wait.how);
        std::string head = "\"cat\":\"edge\",\"name\":\"";
        head.append(how).append("\"");
        const auto known = [&](std::size_t stage) {
          return found.work[stage] != nullptr ? found.work[stage] : found.launches[stage];
        };
        write.arrow(known(wait.stage), known(i), head);
      }
    }
  }
}

}  // namespace

void write_trace(text_sink& to, const run_record& record) {
  const timeline picture(record);
  const auto slices = slices_of(picture, record.frames.size());
  const auto rows = rows_of(record.frames);
  const auto tracks = tracks_of(picture.lanes(), rows.count);
  const nanoseconds zero = zero_of(record, slices);
  to.append(R"({"displayTimeUnit":"ns","otherData":)")
      .append(origin(record, zero))
      .append(",\"traceEvents\":[\n");
  trace_text text(to, zero);
  name_everything(text, record, picture.lanes(), tracks, rows.count);
  write_frames(text, record, rows);
  write_slices(text, record, slices, tracks);
  // After all slices, since an arrow's end belongs to the last slice before it that begins with it.
  write_flows(text, record, slices, tracks);
  to.append("\n]}\n");
}

}  // namespace graphline
