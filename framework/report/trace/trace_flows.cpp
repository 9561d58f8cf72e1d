#include "framework/report/trace/trace_flows.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "framework/base/words.hpp"

namespace graphline {

namespace {

/// The slices of one frame by what they are to its arrows; null where there is none.
struct frame_slices {
  const trace_slice* launch = nullptr;       ///< of the frame's graph
  std::vector<const trace_slice*> launches;  ///< by stage
  std::vector<const trace_slice*> work;  ///< by stage: what it did, its launch if no more is known
};

void find(frame_slices& found, const trace_slices& slices, std::size_t frame, std::size_t stages) {
  using kind = timeline_span::kind;
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

}  // namespace

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

}  // namespace graphline
