#include "framework/report/trace/trace_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "framework/analysis/run/timeline.hpp"
#include "framework/report/json/common_json.hpp"
#include "framework/report/trace/trace_flows.hpp"
#include "framework/report/trace/trace_frames.hpp"
#include "framework/report/trace/trace_slices.hpp"
#include "framework/report/trace/trace_text.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;
using kind = timeline_span::kind;

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
  to.plain(",\"cname\":\"").plain(colour_of(slice.frame)).plain("\"").end_event();
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

}  // namespace

void write_trace(text_sink& to, const run_record& record) {
  const timeline picture(record);
  const auto slices = slices_of(picture, record.frames.size());
  const auto rows = rows_of(record.frames);
  const auto tracks = tracks_of(picture.lanes(), rows.count);
  const nanoseconds zero = zero_of(record, slices);
  to.append(trace_beginning).append(origin(record, zero)).append(",\"traceEvents\":[\n");
  trace_text text(to, zero);
  name_everything(text, record, picture.lanes(), tracks, rows.count);
  write_frames(text, record, rows);
  write_slices(text, record, slices, tracks);
  // After all slices, since an arrow's end belongs to the last slice before it that begins with it.
  write_flows(text, record, slices, tracks);
  to.append("\n]}\n");
}

std::uint64_t expected_trace_bytes(std::int64_t frames, std::size_t stages) {
  constexpr std::uint64_t around = 16384;  // settings, environment, names of tracks
  // A frame, its wait and the counters; for each stage its launch and its execution, and arrows
  // from the launch and from a stage before it.
  constexpr std::uint64_t of_frame = 800;
  constexpr std::uint64_t of_stage = 2 * 180 + 4 * 90;
  const auto count = static_cast<std::uint64_t>(std::max<std::int64_t>(frames, 0));
  return around + count * (of_frame + stages * of_stage);
}

}  // namespace graphline
