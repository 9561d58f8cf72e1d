#include "framework/run/execute/frame_allowance.hpp"

#include <algorithm>

#include "framework/plan/plan.hpp"

namespace graphline {
namespace {

/// Nanoseconds from frame to frame when a run is alone and as fast as it can be; 0 when no frame
/// came through, of which the trial itself will then tell.
double alone_frame_time(session& s, const stop_request* stop) {
  const settings& run = s.planned().run;
  run_options options;
  options.timing = timing_method::none;
  options.frames = 4 * (run.in_flight + 1);
  if (run.arrival != arrival::closed) options.rate = 1e6;
  options.stop = stop;
  const run_record record = s.run(options);
  if (record.frames.empty()) return 0;
  const nanoseconds took = record.frames.back().end - record.frames.front().begin;
  return static_cast<double>(took) / static_cast<double>(record.frames.size());
}

/// How long the runs that lead take, each alone: by their rate, or their own time if that is more.
double leading_time(const std::vector<concurrent_run>& runs, const stop_request* stop) {
  double longest = 0;
  for (const auto& r : runs) {
    if (!r.leads) continue;
    const settings& run = r.session->planned().run;
    const double gap = run.rate ? 1e9 / *run.rate : 0;
    const double frame = std::max(gap, alone_frame_time(*r.session, stop));
    longest = std::max(longest, frame * static_cast<double>(run.frames));
  }
  return longest;
}

}  // namespace

void frame_allowance::give(std::size_t configuration, std::vector<concurrent_run>& runs,
                           const stop_request* stop) {
  auto& enough = enough_[configuration];
  if (enough.empty()) {
    // Each slows the others down, so that all take that many times as long; more for what else may
    // come in between. What is too many costs memory for one trial only.
    const double length = leading_time(runs, stop) * 3 * static_cast<double>(runs.size());
    for (const auto& r : runs) {
      // Of a run without a frame nothing is guessed, since room for too many would be taken again
      // and again.
      const double frame = r.leads ? 0 : alone_frame_time(*r.session, stop);
      const double frames = frame > 0 ? length / frame + 16 : 16;
      enough.push_back(
          static_cast<std::int64_t>(std::min(frames, static_cast<double>(most_frames))));
    }
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].leads) runs[i].frames = enough[i];
  }
}

void frame_allowance::learn(std::size_t configuration, const std::vector<concurrent_run>& runs,
                            const std::vector<run_record>& records) {
  auto& enough = enough_[configuration];
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].leads) continue;
    const auto done = static_cast<std::int64_t>(records[i].frames.size());
    const std::int64_t next = done < enough[i] ? 2 * done + 16 : 4 * enough[i];
    enough[i] = std::min(next, most_frames);
  }
}

}  // namespace graphline
