#include "framework/campaign/search/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <new>
#include <numeric>
#include <random>
#include <utility>

#include "framework/analysis/run/summary.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/analysis/stats/rank_correlation.hpp"
#include "framework/base/error.hpp"
#include "framework/base/random.hpp"
#include "framework/base/units.hpp"

namespace graphline {
namespace {

constexpr double screened_until = 0.4;  // of the time limit, after planning
constexpr double raced_until = 0.65;
constexpr std::size_t least_probes = 5;  // candidates that test the predictions
constexpr std::size_t most_probes = 10;
constexpr std::size_t least_raced = 8;
constexpr std::size_t most_blocks = 4;  // of a round of the race
constexpr std::size_t most_confirmed = 4;
constexpr std::int64_t confirming_trials = 10;
constexpr std::int64_t least_trial_frames = 5;  // of a trial
constexpr std::int64_t most_warmup = 3;         // of a trial before the confirmation
constexpr double spare = 2;  // frames that are late together tell less, and limits share 5 %

using index_list = std::vector<std::size_t>;

class settings_search {
 public:
  settings_search(const experiment_plan& planned, const search_measurements& by,
                  const search_options& options)
      : planned_(planned),
        by_(by),
        options_(options),
        goal_(options.goal),
        file_(planned.configurations.front().members.front().run),
        samples_(planned_.configurations.size()),
        predicted_(planned_.configurations.size()),
        warmup_(std::min(file_.warmup, most_warmup)),
        begun_(options.begun.value_or(options.clock())),
        planning_(elapsed()) {
    made_.objective = goal_.objective;
    made_.limits = goal_.limits;
    for (const auto& c : planned_.configurations) {
      made_.candidates.push_back({c.what.name, c.what.assignments});
    }
  }

  experiment_record search() {
    experiment_record record;
    try {
      try_file();
      predict();
      screen();
      race();
      const auto request = confirmation();
      record = by_.confirm(request);
      for (const auto& trial : record.trials) {
        const std::size_t i = request.candidates[trial.configuration];
        auto& outcome = made_.candidates[i].outcome;
        if (outcome != search_outcome::confirmed) samples_[i] = {};
        outcome = search_outcome::confirmed;
        samples_[i].add(trial.members.front());
      }
    } catch (const interrupted_error&) {
      record.name = planned_.name;
      record.files = planned_.files;
      if (!alive_.empty()) {
        const std::size_t best = order_by_score(alive_).front();
        record.configurations.push_back(planned_.configurations[best].what);
      }
      record.interrupted = true;
      record.stopped = "interrupted";
    }
    finish_candidates();
    made_.time_limit = options_.time_limit;
    made_.time = static_cast<nanoseconds>(elapsed());
    record.search = std::move(made_);
    return record;
  }

 private:
  // ---- Trials -----------------------------------------------------------------------------------

  void stop_if_asked() const {
    if (options_.stop != nullptr && options_.stop->raised()) throw interrupted_error("interrupted");
  }

  double elapsed() const { return static_cast<double>(options_.clock() - begun_); }
  double limit() const { return static_cast<double>(options_.time_limit); }
  double time_at(double share) const { return planning_ + share * (limit() - planning_); }

  /// Runs a trial. If it fails, the candidate drops out. Trials of a block have the same arrivals.
  void measure(std::size_t candidate, std::int64_t frames, std::uint64_t block) {
    stop_if_asked();
    const double before = elapsed();
    auto& to = made_.candidates[candidate];
    try {
      const auto runs = by_.trials.run(
          candidate, {.frames = frames, .warmup = warmup_, .number = block}, options_.stop);
      const run_record& run = runs.front();
      if (run.interrupted) throw interrupted_error("interrupted");
      if (!run.failure && !run.frames.empty()) {
        samples_[candidate].add(run);
        made_.frames += static_cast<std::int64_t>(run.frames.size());
        const auto time = std::max<nanoseconds>(1, running_time(run));
        frame_times_[candidate] = time / static_cast<nanoseconds>(run.frames.size());
        setup_ = std::max(setup_, elapsed() - before - static_cast<double>(time));
        return;
      }
      to.failure = run.failure.value_or("no frame was completed");
    } catch (const run_error& e) {
      to.failure = e.what();
    } catch (const std::bad_alloc&) {
      to.failure = "out of memory";
    }
    if (candidate == 0) throw run_error("the file's settings: " + to.failure);
    to.outcome = search_outcome::failed;
    std::erase(alive_, candidate);
  }

  /// Returns the frames that the objective's percentile needs.
  std::int64_t frames_of_objective() const {
    const auto p = percentile_of(goal_.objective);
    return p ? static_cast<std::int64_t>(samples_needed(*p)) : 0;
  }

  /// Returns frames of a trial so that `trials` trials of each candidate take `time`. At most
  /// `most`, or as many as the objective's percentile needs.
  std::int64_t frames_for(double time, double trials, const index_list& candidates,
                          std::int64_t most, std::int64_t warmup) const {
    if (options_.frames) return *options_.frames;
    double frame = 0;  // of each candidate
    for (const std::size_t i : candidates) frame += static_cast<double>(frame_times_.at(i));
    const double frames = time / trials / frame - static_cast<double>(warmup);
    return std::clamp(static_cast<std::int64_t>(std::min(frames, 1e9)), least_trial_frames,
                      std::max(most, frames_of_objective()));
  }

  // ---- Predicting -------------------------------------------------------------------------------

  /// Finds out how long frames take. Fails early if the file's settings do.
  void try_file() {
    measure(0, options_.frames.value_or(std::min<std::int64_t>(file_.frames, 10)), 0);
    samples_[0] = {};
    check_time();
    // Assumes that predictions let most candidates of a large space be skipped.
    const auto trials = std::min(samples_.size(), 2 * most_probes + samples_.size() / 5);
    trial_frames_ = frames_for(0.25 * limit(), static_cast<double>(trials), {0}, 20, warmup_);
    most_frames_ = std::max<std::int64_t>(45, file_.frames);
  }

  /// Returns the frames that the percentiles of the objective and the limits need.
  double frames_needed() const {
    auto needed = static_cast<double>(frames_of_objective());
    for (const search_limit& each : goal_.limits) {
      const auto limited = percentile_of(each.metric);
      if (limited) needed = std::max(needed, static_cast<double>(frames_to_hold(*limited)));
    }
    return needed;
  }

  /// Returns the frames of a confirming trial with which its candidate has `all` in all.
  std::int64_t confirming_frames(double all) const {
    const auto each = std::ceil(all / static_cast<double>(confirming_trials));
    return options_.frames.value_or(std::max(least_trial_frames, static_cast<std::int64_t>(each)));
  }

  /// Returns how long a confirmation takes if all of its candidates run like the file's settings.
  double confirmation_time(std::size_t candidates, std::int64_t frames) const {
    const auto trial = static_cast<double>((file_.warmup + frames) * frame_times_.at(0));
    return planning_ + static_cast<double>(candidates) *
                           (setup_ + trial * static_cast<double>(confirming_trials));
  }

  /// @throws input_error if a search of twice the time limit is too short to confirm anything
  void check_time() const {
    const auto frames = confirming_frames(frames_needed());
    const double least = elapsed() + confirmation_time(2, frames);
    if (least <= 2 * limit()) return;
    const double enough =
        confirmation_time(most_confirmed, confirming_frames(spare * frames_needed())) /
        (1 - raced_until);
    throw input_error(fmt::format(
        "--time-limit {}: the search takes at least {}, because the confirmation needs {} frames "
        "of each candidate, and a frame of the file's settings takes {}{}; use --time-limit "
        "{:.0f}s",
        format_duration(limit()), format_duration(least), confirming_trials * frames,
        format_duration(static_cast<double>(frame_times_.at(0))),
        setup_ + planning_ > 0.1 * least
            ? ", after preparations of " + format_duration(planning_ + setup_)
            : "",
        std::ceil(1e-9 * enough)));
  }

  /// Predicts candidates in random order while time lasts.
  void predict() {
    if (!by_.predict) return;
    index_list order(predicted_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937_64 random(mix_seed(options_.seed, seed_from("predict")));
    shuffle(order, random);
    for (const std::size_t i : order) {
      stop_if_asked();
      if (elapsed() >= time_at(predicted_share)) return;
      const auto run = by_.predict(i, std::max(trial_frames_, frames_of_objective()));
      if (!run) continue;
      predicted_[i].add(*run);
      made_.candidates[i].predicted = predicted_[i].estimate(goal_.objective);
    }
  }

  // ---- Comparing candidates ---------------------------------------------------------------------

  double mean_score(std::size_t candidate) const {
    return mean_of(samples_[candidate].scores(goal_.objective));
  }

  /// Returns how many limits have this verdict.
  std::ptrdiff_t limits_that(bound_verdict verdict, std::size_t candidate) const {
    return std::ranges::count_if(goal_.limits, [&](const search_limit& limit) {
      return samples_[candidate].check(limit) == verdict;
    });
  }

  /// Returns how well a candidate meets the limits; less is better.
  std::pair<bool, double> standing(std::size_t candidate) const {
    const bool holds = limits_that(bound_verdict::holds, candidate) == std::ssize(goal_.limits);
    return {!holds, violation_of(goal_.limits, samples_[candidate])};
  }

  index_list order_by_score(index_list list) const {
    std::ranges::stable_sort(list, {},
                             [&](std::size_t i) { return std::pair(standing(i), mean_score(i)); });
    return list;
  }

  // ---- Screening --------------------------------------------------------------------------------

  void screen() {
    index_list ranked;
    index_list unknown;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      (predicted_[i].trials() > 0 ? ranked : unknown).push_back(i);
    }
    const auto standing = [&](std::size_t i) {
      return std::pair(violation_of(goal_.limits, predicted_[i]),
                       predicted_[i].scores(goal_.objective).front());
    };
    std::ranges::stable_sort(ranked, {}, standing);
    screen(0);
    const std::size_t probed = std::min(probes(), ranked.size());
    for (std::size_t i = 0; i < probed; ++i) {
      screen(ranked[i * (ranked.size() - 1) / std::max<std::size_t>(1, probed - 1)]);
    }
    if (predictions_rank(ranked)) {
      // Predictions within the margin do not rank.
      auto last =
          standing(ranked[std::min(ranked.size(), std::max(least_raced, samples_.size() / 4)) - 1]);
      last.second += margin_;
      std::erase_if(ranked, [&](std::size_t i) { return standing(i) > last; });
    }
    for (const std::size_t i : ranked) screen(i);
    for (const std::size_t i : unknown) screen(i);
  }

  /// Returns a third of the candidates for which the screening has time, within limits.
  std::size_t probes() const {
    const auto frames = static_cast<double>(warmup_ + trial_frames_);
    const double trial = setup_ + frames * static_cast<double>(frame_times_.at(0));
    const double reached = (time_at(screened_until) - elapsed()) / trial;
    return static_cast<std::size_t>(
        std::clamp(reached / 3, double(least_probes), double(most_probes)));
  }

  void screen(std::size_t candidate) {
    auto& outcome = made_.candidates[candidate].outcome;
    if (outcome != search_outcome::pruned) return;
    outcome = search_outcome::no_time;
    if (candidate > 0 && elapsed() + setup_ >= time_at(screened_until)) return;
    measure(candidate, trial_frames_, 0);
    if (samples_[candidate].trials() == 0) return;
    outcome = search_outcome::measured;
    alive_.push_back(candidate);
    options_.on_progress("screening", alive_.size(), samples_.size());
  }

  /// Returns true if predictions order candidates well enough to exclude some.
  bool predictions_rank(const index_list& ranked) {
    std::vector<double> predicted;
    std::vector<double> measured;
    for (const std::size_t i : ranked) {
      if (samples_[i].trials() == 0) continue;
      predicted.push_back(predicted_[i].scores(goal_.objective).front());
      measured.push_back(samples_[i].scores(goal_.objective).front());
    }
    if (measured.size() >= least_probes) made_.tau = kendall_tau(predicted, measured);
    return made_.tau && *made_.tau >= least_tau;
  }

  // ---- Racing -----------------------------------------------------------------------------------

  /// Runs rounds of equal time. Each starts with a third of the previous round's candidates, so
  /// that fewer candidates are compared in more blocks.
  void race() {
    std::mt19937_64 random(mix_seed(options_.seed, seed_from("race")));
    std::size_t blocks = 0;
    keep_third(least_raced);
    std::size_t rounds = 1;
    for (std::size_t left = alive_.size(); left > most_confirmed; left = (left + 2) / 3) ++rounds;
    for (std::size_t round = 1; round <= rounds && alive_.size() > 1; ++round) {
      const double begun = elapsed();
      const double time = (time_at(raced_until) - begun) / static_cast<double>(rounds + 1 - round);
      if (time <= 0) return;
      const auto frames = frames_for(time, 2, alive_, trial_frames_, warmup_);
      double block_time = 0;
      for (std::size_t block = 0; block < most_blocks && alive_.size() > 1; ++block) {
        const double before = elapsed();
        if (before + block_time > begun + time) break;
        index_list order = alive_;
        shuffle(order, random);
        ++blocks;
        for (const std::size_t i : order) measure(i, frames, blocks);
        block_time = elapsed() - before;
        drop_out();
      }
      keep_third(most_confirmed);
      options_.on_progress("racing", round, rounds);
    }
  }

  /// Keeps the best third, but not fewer than `least`.
  void keep_third(std::size_t least) {
    alive_ = order_by_score(std::move(alive_));
    alive_.resize(std::min(alive_.size(), std::max(least, (alive_.size() + 2) / 3)));
  }

  /// Drops candidates that violate a limit, but not all, then those that are worse than the best.
  void drop_out() {
    const std::size_t first = order_by_score(alive_).front();
    std::erase_if(alive_, [&](std::size_t i) {
      return i != first && limits_that(bound_verdict::fails, i) > 0;
    });
    std::vector<std::vector<double>> scores;
    for (const std::size_t i : alive_) scores.push_back(samples_[i].scores(goal_.objective));
    const auto ranges = behind_leader(scores);
    index_list kept;
    for (std::size_t i = 0; i < alive_.size(); ++i) {
      if (ranges[i].low <= 0) kept.push_back(alive_[i]);
    }
    alive_ = std::move(kept);
  }

  // ---- Confirming -------------------------------------------------------------------------------

  confirmation_request confirmation() {
    const index_list order = order_by_score(alive_);
    std::size_t simplest = order.front();
    for (const std::size_t i : order) {
      const bool equal = mean_score(i) <= mean_score(order.front()) + margin_;
      if (equal && standing(i) <= standing(order.front())) simplest = std::min(simplest, i);
    }
    confirmation_request made;
    made.candidates = {simplest};
    for (const std::size_t i : order) {
      if (i != simplest && made.candidates.size() < most_confirmed) made.candidates.push_back(i);
    }
    if (std::ranges::find(made.candidates, std::size_t{0}) == made.candidates.end()) {
      made.candidates.resize(std::min(made.candidates.size(), most_confirmed - 1));
      made.candidates.push_back(0);
    }
    made.how.seed = options_.seed;
    made.how.trials = confirming_trials;
    made.how.margin = margin_;
    const auto p = percentile_of(goal_.objective);
    if (p && *p > 0.5) made.how.tail = *p;

    const auto least = confirming_frames(spare * frames_needed());
    const auto frames_in = [&](double time, std::int64_t most) {
      const auto setup = planning_ + setup_ * static_cast<double>(made.candidates.size());
      return frames_for(std::max(0.0, time - setup), static_cast<double>(confirming_trials),
                        made.candidates, most, file_.warmup);
    };
    // An answer is worth exceeding the limit, by as long at most.
    while (made.candidates.size() > 2 &&
           frames_in(limit(), least) < confirming_frames(frames_needed())) {
      made.candidates.erase(made.candidates.end() - (made.candidates.back() == 0 ? 2 : 1));
    }
    made.frames = std::max(frames_in(limit() - elapsed(), std::max(least, most_frames_)),
                           std::min(least, frames_in(limit(), least)));
    return made;
  }

  void finish_candidates() {
    const auto latency = percentile_of(goal_.objective) ? goal_.objective : search_metric::p50;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      const auto& of = samples_[i];
      if (of.trials() == 0) continue;
      auto& to = made_.candidates[i];
      to.objective = of.value(goal_.objective);
      to.latency = of.value(latency);
      to.throughput = of.value(search_metric::throughput);
      to.device_bytes = static_cast<std::uint64_t>(of.estimate(search_metric::device_memory));
    }
  }

  const experiment_plan& planned_;
  const search_measurements& by_;
  const search_options& options_;
  const search_goal& goal_;
  const settings& file_;
  double margin_ = experiment_settings{}.margin;
  std::vector<search_samples> samples_;             // by candidate
  std::vector<search_samples> predicted_;           // by candidate; without trials if unknown
  std::map<std::size_t, nanoseconds> frame_times_;  // of the last trial
  index_list alive_;
  std::int64_t warmup_;            // of a trial before the confirmation
  std::int64_t trial_frames_ = 0;  // in the screening
  std::int64_t most_frames_ = 0;   // of a later trial
  nanoseconds begun_;
  double planning_;   // time before the first trial
  double setup_ = 0;  // longest preparation of a candidate
  search_record made_;
};

}  // namespace

experiment_record find_best_settings(const experiment_plan& planned, const search_measurements& by,
                                     const search_options& options) {
  return settings_search(planned, by, options).search();
}

}  // namespace graphline
