#include "framework/run/capacity/capacity_probe.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "framework/analysis/run/summary.hpp"

namespace graphline {
namespace {

constexpr double all_at_once = 1e6;  // frames a second: more than any pipeline takes

/// Also of the few frames that a short queue leaves of many, which have no throughput.
double rough_rate(const run_record& record) {
  const auto time = static_cast<double>(running_time(record));
  return time > 0 ? 1e9 * static_cast<double>(record.frames.size()) / time : all_at_once;
}

class session_probe {
 public:
  session_probe(session& s, const capacity_settings& how, const stop_request* stop)
      : session_(s), how_(how), stop_(stop) {}

  capacity_run operator()(const probe_request& request) {
    if (!request.rate) return closed_loop(request);
    const double rate = *request.rate;
    stop_request cut(stop_);
    nanoseconds begun = 0;
    auto options = options_for(request, rate);
    options.stop = &cut;
    options.before_frames = [&begun] { begun = now(); };
    const auto limit = enough_late(how_, request.frames);
    options.on_progress = [&](const progress& at) {
      if (request.on_progress) request.on_progress(at);
      if (!request.may_cut_off || at.warmup || begun == 0) return;
      if (overdue_frames(how_, rate, request.frames, now() - begun, at.done) >= limit) cut.raise();
    };
    capacity_run run;
    run.record = session_.run(options);
    const bool stopped = stop_ != nullptr && stop_->raised();
    run.cut_off =
        run.record.interrupted && !stopped && !run.record.failure && !run.record.frames.empty();
    if (run.cut_off) run.overdue = overdue_at_end(run.record, rate);
    return run;
  }

 private:
  run_options options_for(const probe_request& request, double rate) {
    run_options options;
    options.rate = rate;
    options.arrival_seed = request.seed;
    options.frames = request.frames;
    if (warm_) options.warmup = 1;
    warm_ = true;
    return options;
  }

  capacity_run closed_loop(const probe_request& request) {
    capacity_run run;
    double rate = all_at_once;
    // A queue that drops frames leaves few of those that are due at once: the second time, frames
    // come only so fast that it is never empty.
    for (int attempt = 0; attempt < 2; ++attempt) {
      auto options = options_for(request, rate);
      options.stop = stop_;
      options.on_progress = request.on_progress;
      run.record = session_.run(options);
      if (run.record.interrupted || run.record.failure || run.record.load.dropped.empty()) break;
      rate = std::min(all_at_once, 4 * rough_rate(run.record));
    }
    return run;
  }

  std::int64_t overdue_at_end(const run_record& record, double rate) const {
    nanoseconds ended = 0;
    for (const auto& frame : record.frames) ended = std::max(ended, frame.end);
    auto first = record.frames.front().due;
    if (!record.load.dropped.empty()) first = std::min(first, record.load.dropped.front());
    const auto done = static_cast<std::int64_t>(record.frames.size() + record.load.dropped.size());
    return overdue_frames(how_, rate, record.run.frames, ended - first, done);
  }

  session& session_;
  capacity_settings how_;
  const stop_request* stop_;
  bool warm_ = false;
};

}  // namespace

probe_function make_session_probe(session& s, const capacity_settings& how,
                                  const stop_request* stop) {
  return session_probe(s, how, stop);
}

std::int64_t overdue_frames(const capacity_settings& how, double rate, std::int64_t frames,
                            nanoseconds elapsed, std::int64_t done) {
  const double due = rate * 1e-9 * static_cast<double>(elapsed - how.bound);
  if (due <= 0) return 0;
  // Three standard deviations of the number of arrivals.
  const double fewer = how.arrival == arrival::poisson ? 3 * std::sqrt(due) : 0;
  const double arrived = std::min(due - fewer, static_cast<double>(frames));
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(arrived) - done);
}

std::int64_t enough_late(const capacity_settings& how, std::int64_t frames) {
  const auto all = static_cast<double>(frames);
  const double allowed = (1 - how.percentile) * all;
  const double enough = std::min(5 * allowed, allowed + (all - allowed) / 2);
  return std::max<std::int64_t>(20, static_cast<std::int64_t>(std::ceil(enough)));
}

}  // namespace graphline
