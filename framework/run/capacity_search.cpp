#include "framework/run/capacity_search.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "framework/analysis/capacity.hpp"
#include "framework/base/random.hpp"

namespace graphline {
namespace {

constexpr double lowest_part = 1e-3;  // of the closed loop's throughput; below, nobody asks
constexpr double most_rate = 1e6;     // frames a second
constexpr std::int64_t closed_frames = 240;
constexpr int most_raises = 10;

/// Runs of one probe: so many first, more while the verdict is open.
struct run_counts {
  std::size_t first = 1;
  std::size_t most = 4;
  std::int64_t frames = 0;
};

class capacity_search {
 public:
  capacity_search(const capacity_settings& how, const probe_function& probe,
                  const capacity_options& options)
      : probe_(probe), options_(options) {
    record_.how = how;
  }

  capacity_record search() {
    if (const auto ceiling = closed_loop()) {
      ceiling_ = *ceiling;
      if (find_any() && narrow()) confirm();
    }
    return std::move(record_);
  }

 private:
  const capacity_settings& how() const noexcept { return record_.how; }

  /// Frames a second when the next is always there.
  std::optional<double> closed_loop() {
    const auto frames = how().frames > 0 ? std::min(how().frames, closed_frames) : closed_frames;
    record_.closed_loop = make_run({}, frames, 0, false).record;
    if (ended(record_.closed_loop)) return std::nullopt;
    const auto throughput = summarize(record_).closed_loop;
    if (throughput && how().frames == 0) {
      record_.how.frames = usual_capacity_frames(how(), *throughput);
    }
    return throughput;
  }

  /// A rate that holds. False when there is none, or the search ended.
  bool find_any() {
    for (double rate = ceiling_ / 2; rate > lowest_part * ceiling_; rate /= 4) {
      if (summarize(record_).alone.verdict == bound_verdict::fails) return false;
      const auto held = holds(rate, false);
      if (!held) return false;
      if (*held) return true;
    }
    return false;
  }

  /// Brings rates that hold and do not close together. The closed loop's throughput counts as a
  /// rate that does not, until in the end it is tried: it may have been measured too low. Then
  /// higher ones are tried, until one does not hold.
  bool narrow() {
    for (int raises = 0; raises < most_raises;) {
      const double high = fails_.value_or(ceiling_);
      const bool narrow_enough = high <= *holds_ * (1 + how().within);
      if (narrow_enough && fails_) return true;
      const bool at_ceiling = !fails_ && (narrow_enough || raises > 0);
      const auto held = holds(at_ceiling ? high : std::sqrt(*holds_ * high), false);
      if (!held) return false;
      if (at_ceiling && *held) {
        if (ceiling_ >= most_rate) return true;
        ceiling_ = std::min(most_rate, 1.1 * ceiling_);
        ++raises;
      }
    }
    return true;
  }

  /// Lowers the rate found, in steps that grow, until longer runs confirm it; then looks between
  /// that rate and the one above it, by longer runs too.
  void confirm() {
    double low = *holds_;
    std::optional<double> high;  // did not hold in longer runs
    const double lowest = lowest_part * low;
    for (double step = how().within;; step *= 2) {
      const auto held = holds(low, true);
      if (!held) return;
      if (*held) break;
      high = low;
      low /= 1 + step;
      if (low < lowest) return;
    }
    constexpr double rounding = 1e-9;
    while (high && *high > low * (1 + how().within + rounding)) {
      const double rate = std::sqrt(low * *high);
      const auto held = holds(rate, true);
      if (!held) return;
      (*held ? low : *high) = rate;
    }
  }

  run_counts counts(bool confirming) const {
    if (!confirming) return {1, 4, how().frames};
    // A constant rate is the same each time; at random moments, one run may have been lucky.
    if (how().arrival == arrival::poisson) return {4, 8, 2 * how().frames};
    return {1, 2, 4 * how().frames};
  }

  /// Runs frames at a rate until it is clear whether it holds, or there are runs enough. Nothing
  /// when the search is to end.
  std::optional<bool> holds(double rate, bool confirming) {
    const auto count = counts(confirming);
    const std::size_t begin = record_.runs.size();
    probe_summary found;
    for (std::size_t i = 0; i < count.most; ++i) {
      auto run = make_run(rate, count.frames, i, confirming);
      run.probe = probes_;
      run.rate = rate;
      run.confirming = confirming;
      const bool last = !run.cut_off && ended(run.record);
      record_.runs.push_back(std::move(run));
      if (last) return std::nullopt;
      found = summarize(std::span(record_.runs).subspan(begin), how());
      const bool holding = found.verdict == bound_verdict::holds && i + 1 >= count.first;
      if (holding || found.verdict == bound_verdict::fails) break;
    }
    ++probes_;
    if (!found.held) return std::nullopt;
    auto& bracket = *found.held ? holds_ : fails_;
    bracket = rate;
    if (fails_ && holds_ && *fails_ <= *holds_) holds_.reset();  // a longer run knows better
    if (options_.stop != nullptr && options_.stop->raised()) {
      record_.interrupted = true;
      return std::nullopt;
    }
    return found.held;
  }

  capacity_run make_run(std::optional<double> rate, std::int64_t frames, std::size_t index,
                        bool confirming) {
    probe_request request;
    request.rate = rate;
    request.frames = frames;
    // The same moments at each rate, so that rates differ by nothing else; others in each run of a
    // rate, and to confirm.
    request.seed = mix_seed(how().seed, 2 * index + (confirming ? 1 : 0));
    if (options_.on_progress) {
      request.on_progress = [this, rate, confirming](const progress& at) {
        options_.on_progress({rate, confirming, holds_, fails_, at});
      };
    }
    return probe_(request);
  }

  /// Whether a run was the last one.
  bool ended(const run_record& run) {
    record_.interrupted |= run.interrupted;
    return run.interrupted || run.failure || run.frames.empty();
  }

  const probe_function& probe_;
  const capacity_options& options_;
  capacity_record record_;
  std::size_t probes_ = 0;
  double ceiling_ = 0;
  std::optional<double> holds_;
  std::optional<double> fails_;
};

}  // namespace

std::int64_t least_capacity_frames(double percentile) {
  auto frames = static_cast<std::int64_t>(frames_to_hold(percentile));
  while (frames - frames / 10 < static_cast<std::int64_t>(frames_to_hold(percentile))) ++frames;
  return frames;
}

std::int64_t usual_capacity_frames(const capacity_settings& how, double closed_loop) {
  constexpr double longest_run = 30;  // seconds, for the sake of the queue
  constexpr double least_run = 1;     // seconds: in less, one hitch of the machine is all there is
  constexpr double most_for_that = 20'000;  // frames
  const std::int64_t beyond = std::llround(12 / (1 - how.percentile));
  const auto queue = std::min(frames_for_queue(how, closed_loop),
                              static_cast<std::int64_t>(longest_run * closed_loop));
  const auto second = static_cast<std::int64_t>(std::min(least_run * closed_loop, most_for_that));
  return std::max({std::int64_t{100}, beyond, queue, second});
}

capacity_record find_capacity(const capacity_settings& how, const probe_function& probe,
                              const capacity_options& options) {
  return capacity_search(how, probe, options).search();
}

}  // namespace graphline
