#include "framework/campaign/capacity/capacity_search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "framework/analysis/experiment/capacity.hpp"
#include "framework/analysis/run/disturbance.hpp"
#include "framework/analysis/run/summary.hpp"
#include "framework/base/random.hpp"

namespace graphline {
namespace {

constexpr double lowest_part = 1e-3;  // as a share of the closed loop's throughput
constexpr double most_rate = 1e6;     // frame/s
constexpr double near =
    1.25;  // largest ratio of the lowest rate that missed the bound to the highest that met it
constexpr std::int64_t closed_frames = 240;
constexpr std::int64_t closed_batches = 12;  // at least; the last may be smaller
constexpr int most_raises = 10;
constexpr std::size_t most_pooled = 40;
constexpr std::size_t most_repeated = 14;  // disturbed runs among the pooled runs

class capacity_search {
 public:
  capacity_search(const capacity_settings& how, const probe_function& probe,
                  const capacity_options& options)
      : probe_(probe), options_(options) {
    record_.how = how;
    record_.set = options.set;
    record_.prediction = options.prediction;
  }

  capacity_record search() {
    std::optional<machine_watch> machine;
    if (options_.watch_machine) machine.emplace(options_.watch_machine());
    // Runs start at half the ceiling.
    const std::optional<double> ceiling = record_.set ? 2 : closed_loop();
    if (ceiling) {
      ceiling_ = *ceiling;
      closed_rate_ = *ceiling;
      if (find_any() && narrow()) pool();
    }
    if (machine) record_.conditions = machine->end();
    return std::move(record_);
  }

 private:
  const capacity_settings& how() const noexcept { return record_.how; }

  /// Measures the throughput in frame/s while a frame is always waiting.
  std::optional<double> closed_loop() {
    const auto frames = how().frames > 0 ? std::min(how().frames, closed_frames) : closed_frames;
    const auto run = make_run({}, frames, false);
    record_.closed_loop = run.members.front();
    if (ended(run)) return std::nullopt;
    const auto throughput = summarize(record_).closed_loop;
    if (throughput && how().frames == 0) {
      record_.how.frames =
          usual_capacity_frames(how(), *throughput, record_.closed_loop->run.batch_frames);
    }
    return throughput;
  }

  /// Finds a rate that meets the bound. Returns false if no rate does or the search ends. Tries
  /// high rates first if frames may wait too long for others of their batch at low rates.
  bool find_any() {
    const double half = ceiling_ / 2;
    const bool waits = summarize(record_).batch_wait.has_value();
    for (double rate = waits ? 0.9 * ceiling_ : half; rate > lowest_part * ceiling_;
         rate /= rate > half ? near : 4) {
      const auto known = summarize(record_);
      if (known.alone.verdict == bound_verdict::fails) return false;
      if (known.waiting.verdict == bound_verdict::fails) return false;
      const auto held = holds(rate);
      if (!held) return false;
      if (*held) return true;
    }
    return false;
  }

  /// Narrows the range between a rate that met the bound and a rate that missed it. Assumes that
  /// the closed loop's throughput misses the bound. If it turns out to meet the bound, tries higher
  /// rates.
  bool narrow() {
    for (int raises = 0; raises < most_raises;) {
      const double high = high_.value_or(ceiling_);
      const bool narrow_enough = high <= *low_ * near;
      if (narrow_enough && high_) return true;
      const bool at_ceiling = !high_ && (narrow_enough || raises > 0);
      const auto held = holds(at_ceiling ? high : std::sqrt(*low_ * high));
      if (!held) return false;
      if (at_ceiling && *held) {
        if (ceiling_ >= most_rate) return false;
        ceiling_ = std::min(most_rate, near * ceiling_);
        ++raises;
      }
    }
    return false;
  }

  /// Returns true if a run at `rate` meets the bound; empty if the search ends.
  std::optional<bool> holds(double rate) {
    constexpr int most_tries = 4;  // a run is repeated if the process stood still
    for (int tries = 0; tries < most_tries; ++tries) {
      if (!run_at(rate, how().frames, false)) return std::nullopt;
      if (std::ranges::none_of(record_.runs.back().members, stood_still)) break;
    }
    const bool held = summaries_.back().held;
    (held ? low_ : high_) = rate;
    return held;
  }

  /// Adds pooled runs near the capacity until the capacity's interval is narrow enough.
  void pool() {
    const std::int64_t frames = how().frames * (how().arrival == arrival::poisson ? 2 : 4);
    const std::vector<double> about = {*low_, *high_};
    const std::size_t before = record_.runs.size();
    std::size_t repeated = 0;
    capacity_estimate estimate;
    while (estimate.runs < most_pooled && repeated < most_repeated) {
      const bool again = !estimate.disturbed.empty() && estimate.disturbed.back();
      double rate = estimate.next;
      if (again) rate = record_.runs.back().rate;
      if (rate <= 0) rate = about[(record_.runs.size() - before) % about.size()];
      if (rate > most_rate || rate < lowest_part * ceiling_) return;
      if (!run_at(rate, frames, true)) return;
      estimate = estimate_capacity(record_, closed_rate_, summaries_);
      repeated = record_.runs.size() - before - estimate.runs;
      low_ = estimate.low;
      high_ = estimate.high;
      const auto width = estimate.width();
      if (estimate.enough && width && *width <= how().within) return;
    }
  }

  /// Makes a run and adds it to the record. Returns false if the search has to end.
  bool run_at(double rate, std::int64_t frames, bool pooled) {
    auto run = make_run(rate, frames, pooled);
    run.rate = rate;
    run.pooled = pooled;
    const auto same = std::find_if(
        record_.runs.begin(), record_.runs.end(),
        [&](const auto& other) { return other.rate == rate && other.pooled == pooled; });
    run.probe = same == record_.runs.end() ? probes_++ : same->probe;
    const bool last = !run.cut_off && ended(run);
    summaries_.push_back(summarize(run, how()));
    record_.runs.push_back(std::move(run));
    if (last) return false;
    if (options_.stop != nullptr && options_.stop->raised()) record_.interrupted = true;
    return !record_.interrupted;
  }

  capacity_run make_run(std::optional<double> rate, std::int64_t frames, bool pooled) {
    probe_request request;
    request.rate = rate;
    request.frames = frames;
    request.seed = mix_seed(how().seed, made_++);  // arrivals differ between runs
    // With random arrivals, cutting off unlucky pooled runs would bias the estimate upward.
    request.may_cut_off =
        how().arrival == arrival::constant || (how().arrival == arrival::poisson && !pooled);
    if (options_.on_progress) {
      request.on_progress = [this, rate](const progress& at) {
        options_.on_progress({rate, low_, high_, at});
      };
    }
    return probe_(request);
  }

  /// Returns true if the search has to end after a run.
  bool ended(const capacity_run& run) {
    return std::ranges::any_of(run.members, [this](const run_record& member) {
      record_.interrupted |= member.interrupted;
      return member.interrupted || member.failure || member.frames.empty();
    });
  }

  const probe_function& probe_;
  const capacity_options& options_;
  capacity_record record_;
  std::uint64_t made_ = 0;
  std::size_t probes_ = 0;
  std::vector<capacity_run_summary> summaries_;  // by run of the record
  double closed_rate_ = 0;                       // frame/s
  double ceiling_ = 0;                           // frame/s; no higher rate was tried yet
  std::optional<double> low_;
  std::optional<double> high_;
};

}  // namespace

std::int64_t least_capacity_frames(double percentile) {
  auto frames = static_cast<std::int64_t>(frames_to_hold(percentile));
  while (frames - frames / 10 < static_cast<std::int64_t>(frames_to_hold(percentile))) ++frames;
  return frames;
}

std::int64_t usual_capacity_frames(const capacity_settings& how, double closed_loop,
                                   std::int64_t batch_frames) {
  constexpr double longest_run = 30;  // seconds, for the queue
  constexpr double least_run = 1;  // seconds; in shorter runs, one hitch of the machine dominates
  constexpr double most_for_that = 20'000;  // frames
  const std::int64_t beyond = std::llround(12 / (1 - how.percentile));
  const auto queue = std::min(frames_for_queue(how, closed_loop, batch_frames),
                              static_cast<std::int64_t>(longest_run * closed_loop));
  const auto second = static_cast<std::int64_t>(std::min(least_run * closed_loop, most_for_that));
  return std::max({std::int64_t{100}, beyond, queue, second});
}

capacity_record find_capacity(const capacity_settings& how, const probe_function& probe,
                              const capacity_options& options) {
  return capacity_search(how, probe, options).search();
}

namespace {

constexpr double all_at_once = 1e6;  // frame/s: more than any pipeline completes

/// Returns completed frames per second. Works for any number of frames.
double rough_rate(const run_record& record) {
  const auto time = static_cast<double>(running_time(record));
  return time > 0 ? 1e9 * static_cast<double>(record.frames.size()) / time : all_at_once;
}

class capacity_probe {
 public:
  capacity_probe(run_function run, const settings& planned, const capacity_settings& how,
                 const stop_request* stop)
      : run_(std::move(run)), planned_(planned), how_(how), stop_(stop) {}

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
      const nanoseconds elapsed = now() - begun - planned_.phase.value_or(0);
      if (overdue(rate, request.frames, elapsed, at.done) >= limit) cut.raise();
    };
    capacity_run run;
    run.members = {run_(options)};
    const run_record& record = run.members.front();
    const bool stopped = stop_ != nullptr && stop_->raised();
    run.cut_off = record.interrupted && !stopped && !record.failure && !record.frames.empty();
    if (run.cut_off) run.overdue = overdue_at_end(record, rate);
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
    // A queue that drops frames may overflow if all frames are due at once. A second run then uses
    // a rate just high enough to keep the queue from emptying.
    for (int attempt = 0; attempt < 2; ++attempt) {
      auto options = options_for(request, rate);
      if (planned_.batch_frames > 1) {
        options.frames = std::max(request.frames, closed_batches * planned_.batch_frames);
      }
      options.stop = stop_;
      options.on_progress = request.on_progress;
      run.members = {run_(options)};
      const run_record& record = run.members.front();
      if (record.interrupted || record.failure || record.load.dropped.empty()) break;
      rate = std::min(all_at_once, 4 * rough_rate(record));
    }
    return run;
  }

  std::int64_t overdue_at_end(const run_record& record, double rate) const {
    nanoseconds ended = 0;
    for (const auto& frame : record.frames) ended = std::max(ended, frame.end);
    auto first = record.frames.front().due;
    if (!record.load.dropped.empty()) first = std::min(first, record.load.dropped.front());
    const auto done = static_cast<std::int64_t>(record.frames.size() + record.load.dropped.size());
    return overdue(rate, record.run.frames, ended - first, done);
  }

  std::int64_t overdue(double rate, std::int64_t frames, nanoseconds elapsed,
                       std::int64_t done) const {
    return overdue_frames(how_, rate, frames, elapsed, done, planned_.burst);
  }

  run_function run_;
  settings planned_;
  capacity_settings how_;
  const stop_request* stop_;
  bool warm_ = false;
};

}  // namespace

probe_function make_probe(run_function run, const settings& planned, const capacity_settings& how,
                          const stop_request* stop) {
  return capacity_probe(std::move(run), planned, how, stop);
}

probe_function make_session_probe(session& s, const capacity_settings& how,
                                  const stop_request* stop) {
  return make_probe([&s](const run_options& options) { return s.run(options); }, s.planned().run,
                    how, stop);
}

namespace {

double slowest_rate(const std::vector<plan>& members) {
  std::optional<double> lowest;
  for (const plan& p : members) {
    if (const auto rate = rate_of(p)) lowest = std::min(lowest.value_or(*rate), *rate);
  }
  return lowest.value_or(0);
}

}  // namespace

std::int64_t frames_of_set(const std::vector<plan>& members, std::int64_t frames) {
  for (const plan& p : members) {
    if (!p.arrivals) continue;
    const auto all = static_cast<double>(frames_that_arrive(p, INT64_MAX));
    const double in_lowest = all * slowest_rate(members) / rate_of(p).value_or(1);
    frames = std::min(frames, static_cast<std::int64_t>(in_lowest));
  }
  return frames;
}

probe_function make_set_probe(const experiment_plan& planned, std::size_t configuration,
                              trial_runner& runner, const stop_request* stop) {
  const auto& members = planned.configurations[configuration].members;
  return [&runner, stop, configuration, &members](const probe_request& request) {
    if (request.on_progress) request.on_progress({.total = request.frames});
    const auto frames = static_cast<double>(frames_of_set(members, request.frames));
    const double length = 1e9 * frames / (slowest_rate(members) * *request.rate);
    capacity_run run;
    run.members = runner.run(configuration,
                             {.number = request.seed,
                              .rate_factor = *request.rate,
                              .horizon = static_cast<nanoseconds>(length)},
                             stop);
    return run;
  };
}

std::int64_t overdue_frames(const capacity_settings& how, double rate, std::int64_t frames,
                            nanoseconds elapsed, std::int64_t done, std::int64_t burst) {
  const double due = rate * 1e-9 * static_cast<double>(elapsed - how.bound);
  if (due <= 0) return 0;
  // Three standard deviations of the number of arrivals.
  const double fewer =
      how.arrival == arrival::poisson ? 3 * std::sqrt(due * static_cast<double>(burst)) : 0;
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
