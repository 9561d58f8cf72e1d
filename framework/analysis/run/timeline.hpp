#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/words.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// A row of a timeline. Its spans do not overlap, except that parts lie within their stage.
struct timeline_lane {
  enum class kind {
    thread,  ///< a host thread: CPU stages, launches and, under `sync`, waits for the device
    stream,  ///< a stream of device stages
    copies,  ///< a stream used only for copies
  };
  kind what = kind::thread;
  std::string name;
  std::size_t device = 0;  ///< of a stream
};

struct timeline_span {
  enum class kind {
    cpu,
    launch,  ///< launch of a device stage or of the frame's graph
    synced,  ///< launch and execution of a device stage between two waits of the host
    held,    ///< time between the events of a device stage or copy, if longer than its busy time
    device,  ///< execution of a device stage: busy time if reported, else between its events
    copy,    ///< a copy on the device; same times as `device`
    part,
    skip,     ///< of length 0: the host decided that a pass does not run a stage
    no_rows,  ///< the same, because the pass has 0 rows
  };
  kind what = kind::cpu;
  std::size_t lane = 0;              ///< index into `lanes()`
  std::optional<std::size_t> stage;  ///< index; empty for the launch of a frame's graph
  std::size_t part = 0;
  nanoseconds begin = 0;  ///< host clock, since the run's epoch
  nanoseconds end = 0;
  /// Of a start that the policy decided: the stage that it passed over, as `preferred_in`. Else 0.
  std::int32_t instead_of = 0;
};

inline constexpr word<timeline_lane::kind> timeline_lane_words[] = {
    {"thread", timeline_lane::kind::thread},
    {"stream", timeline_lane::kind::stream},
    {"copies", timeline_lane::kind::copies}};
inline constexpr word<timeline_span::kind> timeline_span_words[] = {
    {"cpu", timeline_span::kind::cpu},        {"launch", timeline_span::kind::launch},
    {"synced", timeline_span::kind::synced},  {"held", timeline_span::kind::held},
    {"device", timeline_span::kind::device},  {"copy", timeline_span::kind::copy},
    {"part", timeline_span::kind::part},      {"skip", timeline_span::kind::skip},
    {"no_rows", timeline_span::kind::no_rows}};
template <>
struct words_of<timeline_lane::kind> {
  static constexpr const auto& table = timeline_lane_words;
};
template <>
struct words_of<timeline_span::kind> {
  static constexpr const auto& table = timeline_span_words;
};

/// The time spans of a run, in lanes on one clock. Input of all charts and traces. Frames of a
/// batch share the spans of their pass.
class timeline {
 public:
  /// @pre `record` outlives this object.
  explicit timeline(const run_record& record);

  /// Returns the threads in the record's order, then streams in stage order, then copy-only
  /// streams. Omits empty lanes; empty under `timing: none`.
  const std::vector<timeline_lane>& lanes() const noexcept { return lanes_; }

  /// Returns the spans of a pass, sorted by begin; parts follow their stage. If a stage's busy
  /// time is shorter than the time between its events, this longer time is a `held` span. The
  /// stage's timed parts or, without parts, a second span at the end show the busy time. Omits
  /// stages that the pass did not run.
  std::vector<timeline_span> spans_of(std::size_t pass) const;

  /// Returns a span of length 0 for each stage that the pass did not run, at the time at which the
  /// host decided this: in the lane of its thread or, if unknown, of its stream.
  std::vector<timeline_span> skipped_in(std::size_t pass) const;

 private:
  void add_streams(std::size_t device, timeline_lane::kind what);
  void add_device_spans(std::size_t stage, std::size_t pass, std::vector<timeline_span>& to) const;

  const run_record& record_;
  std::vector<timeline_lane> lanes_;
  std::vector<std::size_t> lane_of_thread_;  ///< by thread index
  std::vector<std::size_t> lane_of_stage_;   ///< by stage index: the device stage's stream
};

}  // namespace graphline
