#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/words.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// A row of a picture of a run, in which one thing happens at a time.
struct timeline_lane {
  enum class kind {
    thread,  ///< a host thread: CPU stages, launches, and under `sync` waits for the device
    stream,  ///< a stream of device stages
    copies,  ///< a stream that carries copies only
  };
  kind what = kind::thread;
  std::string name;  ///< of the thread or stream
};

/// Something that took time in a lane.
struct timeline_span {
  enum class kind {
    cpu,     ///< a CPU stage
    launch,  ///< launching a device stage, or the frame's graph
    synced,  ///< a device stage between two waits of the host: launch and execution
    held,    ///< a device stage or copy between its events, beside other work of the device
    device,  ///< a device stage: the device at work on it, where it tells; else between its events
    copy,    ///< a copy on the device, likewise
    part,    ///< a part of a device stage, within it
  };
  kind what = kind::cpu;
  std::size_t lane = 0;              ///< index into `lanes()`
  std::optional<std::size_t> stage;  ///< index; nothing for the launch of a frame's graph
  std::size_t part = 0;              ///< index, of a part
  nanoseconds begin = 0;             ///< since the run's epoch, on the host's clock
  nanoseconds end = 0;
};

inline constexpr word<timeline_lane::kind> timeline_lane_words[] = {
    {"thread", timeline_lane::kind::thread},
    {"stream", timeline_lane::kind::stream},
    {"copies", timeline_lane::kind::copies}};
inline constexpr word<timeline_span::kind> timeline_span_words[] = {
    {"cpu", timeline_span::kind::cpu},       {"launch", timeline_span::kind::launch},
    {"synced", timeline_span::kind::synced}, {"held", timeline_span::kind::held},
    {"device", timeline_span::kind::device}, {"copy", timeline_span::kind::copy},
    {"part", timeline_span::kind::part}};
template <>
struct words_of<timeline_lane::kind> {
  static constexpr const auto& table = timeline_lane_words;
};
template <>
struct words_of<timeline_span::kind> {
  static constexpr const auto& table = timeline_span_words;
};

/// What a run's stamps look like on one clock: lanes with spans in them. The one source of every
/// picture, so that they agree.
class timeline {
 public:
  /// `record` must outlive this.
  explicit timeline(const run_record& record);

  /// Threads first, in the record's order; then streams in the order of the stages; then streams
  /// that carry copies only. Only lanes that hold something: none under `timing: none`.
  const std::vector<timeline_lane>& lanes() const noexcept { return lanes_; }

  /// What happened for a frame, as it was stamped, by begin; parts follow the stage that they are
  /// of. Where the device tells that it was at work on a stage for less than lies between its
  /// events, that is `held`, and what it worked, up to the end of it, a span of its own; in a stage
  /// whose parts are timed these are.
  std::vector<timeline_span> spans_of(std::size_t frame) const;

 private:
  void add_streams(timeline_lane::kind what);
  void add_device_spans(std::size_t stage, std::size_t frame, std::vector<timeline_span>& to) const;

  const run_record& record_;
  std::vector<timeline_lane> lanes_;
  std::vector<std::size_t> lane_of_thread_;  ///< by the record's index
  std::vector<std::size_t> lane_of_stage_;   ///< by index: of a device stage's stream
};

}  // namespace graphline
