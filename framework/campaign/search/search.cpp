#include "framework/campaign/search/search.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <new>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <utility>

#include "framework/analysis/run/summary.hpp"
#include "framework/analysis/search/race.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/analysis/stats/rank_correlation.hpp"
#include "framework/base/error.hpp"
#include "framework/base/random.hpp"

namespace graphline {
namespace {

constexpr double screened_until = 0.4;  // of the time limit
constexpr double raced_until = 0.65;
constexpr std::size_t probes = 10;  // candidates that test the predictions
constexpr std::size_t least_raced = 8;
constexpr std::size_t most_raced = 12;
constexpr std::size_t most_rounds = 6;
constexpr std::size_t most_confirmed = 4;
constexpr std::int64_t confirming_trials = 10;
constexpr std::int64_t least_trial_frames = 5;  // of a trial

using index_list = std::vector<std::size_t>;

/// Figures of a candidate's prediction.
struct predicted_candidate {
  double violation = 0;
  double score = 0;
};

class settings_search {
 public:
  settings_search(const search_space& space, const search_measurements& by,
                  const search_options& options)
      : planned_(space.planned),
        by_(by),
        options_(options),
        goal_(options.goal),
        samples_(planned_.configurations.size()),
        predicted_(planned_.configurations.size()),
        begun_(options.clock()) {
    made_.objective = goal_.objective;
    made_.limits = goal_.limits;
    made_.time_limit = options.time_limit;
    made_.combinations = space.combinations;
    made_.refused = space.refused;
    made_.same = space.same;
    for (const auto& c : planned_.configurations) {
      made_.candidates.push_back(
          {c.what.name, c.what.assignments, search_outcome::pruned, {}, {}, 0, 0, {}, {}, {}, {}});
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
      finish_candidates();
      record = by_.confirm(request);
    } catch (const interrupted_error&) {
      finish_candidates();
      record.name = planned_.name;
      record.files = planned_.files;
      if (!alive_.empty()) {
        const std::size_t best = order_by_score(alive_).front();
        record.configurations.push_back(planned_.configurations[best].what);
      }
      record.interrupted = true;
      record.stopped = "interrupted";
    }
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

  /// Runs a trial. Returns false if it failed; the candidate then drops out. Trials of a block have
  /// the same arrivals.
  bool measure(std::size_t candidate, std::int64_t frames, std::uint64_t block) {
    stop_if_asked();
    auto& to = made_.candidates[candidate];
    try {
      const auto runs =
          by_.trials.run(candidate, {.frames = frames, .number = block}, options_.stop);
      const run_record& run = runs.front();
      if (run.interrupted) throw interrupted_error("interrupted");
      if (!run.failure && !run.frames.empty()) {
        samples_[candidate].add(run);
        frame_times_[candidate] = std::max<nanoseconds>(1, running_time(run)) /
                                  static_cast<nanoseconds>(run.frames.size());
        return true;
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
    return false;
  }

  /// Returns frames of a trial so that `trials` trials of each candidate take `time`. At most
  /// `most`, or as many as the objective's percentile needs.
  std::int64_t frames_for(double time, double trials, const index_list& candidates,
                          std::int64_t most) const {
    if (options_.frames) return *options_.frames;
    double frame = 0;  // of each candidate
    for (const std::size_t i : candidates) frame += static_cast<double>(frame_times_.at(i));
    const auto p = percentile_of(goal_.objective);
    if (p) most = std::max(most, static_cast<std::int64_t>(samples_needed(*p)));
    const double frames = time / trials / frame - static_cast<double>(file_.warmup);
    return std::clamp(static_cast<std::int64_t>(std::min(frames, 1e9)), least_trial_frames, most);
  }

  void report(std::string_view phase, std::size_t done, std::size_t total) const {
    if (!options_.on_progress) return;
    options_.on_progress(
        {phase, static_cast<std::int64_t>(done), static_cast<std::int64_t>(total)});
  }

  // ---- Predicting -------------------------------------------------------------------------------

  /// Finds out how long frames take. Fails early if the file's settings do.
  void try_file() {
    if (!planned_.configurations.front().members.empty()) {
      file_ = planned_.configurations.front().members.front().run;
    }
    measure(0, options_.frames.value_or(std::min<std::int64_t>(file_.frames, 10)), 0);
    samples_[0] = {};
    // Assumes that predictions let most candidates of a large space be skipped.
    const auto trials = std::min(samples_.size(), 2 * probes + samples_.size() / 5);
    trial_frames_ = frames_for(0.25 * limit(), static_cast<double>(trials), {0}, 20);
    most_frames_ = std::max<std::int64_t>(45, file_.frames);
  }

  void predict() {
    if (!by_.predict) return;
    const auto p = percentile_of(goal_.objective);
    const auto needed = p ? static_cast<std::int64_t>(samples_needed(*p)) : 0;
    for (std::size_t i = 0; i < predicted_.size(); ++i) {
      stop_if_asked();
      const auto run = by_.predict(i, std::max(trial_frames_, needed));
      if (!run) continue;
      search_samples samples;
      samples.add(*run);
      predicted_[i] = {violation_of_all(samples), samples.score(goal_.objective, 0)};
      made_.candidates[i].predicted = samples.estimate(goal_.objective);
      ++made_.predicted;
    }
  }

  double violation_of_all(const search_samples& of) const {
    double sum = 0;
    for (const auto& each : goal_.limits) sum += violation_of(each, of.estimate(each.metric));
    return sum;
  }

  // ---- Screening --------------------------------------------------------------------------------

  /// Returns all candidates, best predicted first. The file's settings and those without a
  /// prediction precede all others.
  index_list order_by_prediction() const {
    index_list order(predicted_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
      const auto& of = predicted_[i];
      return std::tuple(i > 0 && of, of ? of->violation : 0, of ? of->score : 0);
    });
    return order;
  }

  void screen() {
    const index_list order = order_by_prediction();
    index_list ranked;
    std::ranges::copy_if(order, std::back_inserter(ranked),
                         [&](std::size_t i) { return predicted_[i].has_value(); });
    index_list first = {0};
    const std::size_t probed = std::min(probes, ranked.size());
    for (std::size_t i = 0; i < probed; ++i) {
      first.push_back(probed == 1 ? ranked[0] : ranked[i * (ranked.size() - 1) / (probed - 1)]);
    }
    for (const std::size_t i : first) screen(i);
    const auto window = window_of(first);
    double best = std::numeric_limits<double>::infinity();
    for (const std::size_t i : ranked) {
      if (predicted_[i]->violation == 0) best = std::min(best, predicted_[i]->score);
    }
    // Without the probes, of the candidates that the predictions may exclude.
    std::size_t left = window ? std::max(least_raced, samples_.size() / 3) : samples_.size();
    for (const std::size_t i : order) {
      if (samples_[i].trials() > 0) continue;
      const bool is_far =
          window && predicted_[i] && std::isfinite(best) &&
          (predicted_[i]->score > best + *window || predicted_[i]->violation > *window);
      if (is_far || (predicted_[i] && left == 0)) continue;
      if (predicted_[i]) --left;
      screen(i);
    }
  }

  void screen(std::size_t candidate) {
    auto& to = made_.candidates[candidate];
    if (samples_[candidate].trials() > 0 || to.outcome == search_outcome::failed) return;
    to.outcome = search_outcome::no_time;
    if (candidate > 0 && elapsed() >= screened_until * limit()) return;
    if (!measure(candidate, trial_frames_, 0)) return;
    to.outcome = search_outcome::screened;
    alive_.push_back(candidate);
    report("screening", alive_.size(), samples_.size());
  }

  /// Returns how far a prediction may exceed the best one; empty if predictions exclude nothing.
  std::optional<double> window_of(const index_list& probed) {
    std::vector<double> predicted;
    std::vector<double> measured;
    std::vector<double> errors;
    index_list seen;
    for (const std::size_t i : probed) {
      const bool again = std::ranges::find(seen, i) != seen.end();
      if (again || !predicted_[i] || samples_[i].trials() == 0) continue;
      seen.push_back(i);
      predicted.push_back(predicted_[i]->score);
      measured.push_back(samples_[i].score(goal_.objective, 0));
      errors.push_back(measured.back() - predicted.back());
    }
    if (seen.size() < probes / 2) return std::nullopt;
    made_.ranked = seen.size();
    made_.tau = kendall_tau(predicted, measured);
    if (!made_.tau || *made_.tau < least_tau) return std::nullopt;
    return std::max(margin_, 3 * stddev_of(errors).value_or(0));
  }

  // ---- Racing -----------------------------------------------------------------------------------

  double mean_score(std::size_t candidate) const {
    double sum = 0;
    const auto& of = samples_[candidate];
    for (std::size_t i = 0; i < of.trials(); ++i) sum += of.score(goal_.objective, i);
    return sum / static_cast<double>(of.trials());
  }

  /// Returns how well a candidate meets the limits; less is better.
  std::pair<bool, double> standing(std::size_t candidate) const {
    const auto& of = samples_[candidate];
    const bool holds = std::ranges::all_of(goal_.limits, [&](const search_limit& each) {
      return of.check(each) == bound_verdict::holds;
    });
    return {!holds, violation_of_all(of)};
  }

  /// Sorts candidates by `standing`, then by score.
  index_list order_by_score(index_list list) const {
    std::ranges::stable_sort(list, {},
                             [&](std::size_t i) { return std::pair(standing(i), mean_score(i)); });
    return list;
  }

  void race() {
    keep(std::clamp(alive_.size() / 3, least_raced, most_raced), search_outcome::screened);
    for (const std::size_t i : alive_) made_.candidates[i].outcome = search_outcome::raced;
    std::mt19937_64 random(mix_seed(options_.seed, seed_from("race")));
    while (alive_.size() > 1 && made_.rounds < most_rounds && elapsed() < raced_until * limit() &&
           !all_the_same()) {
      const double left = raced_until * limit() - elapsed();
      const auto rounds = static_cast<double>(most_rounds - made_.rounds);
      const auto frames = frames_for(left, rounds, alive_, most_frames_);
      index_list block = alive_;
      shuffle(block, random);
      ++made_.rounds;
      for (const std::size_t i : block) measure(i, frames, made_.rounds);
      drop_out();
      keep(made_.rounds < 2   ? most_raced
           : made_.rounds < 4 ? 6
                              : most_confirmed,
           search_outcome::raced);
      report("racing", made_.rounds, most_rounds);
    }
  }

  /// Keeps at most the best `count` candidates.
  void keep(std::size_t count, search_outcome others) {
    alive_ = order_by_score(std::move(alive_));
    while (alive_.size() > count) {
      made_.candidates[alive_.back()].outcome = others;
      alive_.pop_back();
    }
  }

  std::vector<race_place> places() const {
    std::vector<std::vector<double>> scores;
    for (const std::size_t i : alive_) {
      auto& of_one = scores.emplace_back();
      for (std::size_t b = 0; b < samples_[i].trials(); ++b) {
        of_one.push_back(samples_[i].score(goal_.objective, b));
      }
    }
    return judge_race(scores, margin_);
  }

  bool all_the_same() const {
    return made_.rounds > 1 && std::ranges::none_of(places(), [](race_place place) {
             return place == race_place::open || place == race_place::worse;
           });
  }

  /// Drops candidates that violate a limit, then those that are worse than the best of the others.
  void drop_out() {
    const auto drop = [&](std::size_t i, search_outcome why) {
      made_.candidates[i].outcome = why;
      std::erase(alive_, i);
    };
    index_list order = order_by_score(alive_);
    std::ranges::reverse(order);  // so that the one with the least violation stays if all fail
    for (const std::size_t i : order) {
      const bool fails = std::ranges::any_of(goal_.limits, [&](const search_limit& each) {
        return samples_[i].check(each) == bound_verdict::fails;
      });
      if (fails && alive_.size() > 1) drop(i, search_outcome::violates);
    }
    const auto found = places();
    const index_list raced = alive_;
    for (std::size_t i = 0; i < raced.size(); ++i) {
      if (found[i] == race_place::worse) drop(raced[i], search_outcome::worse);
    }
  }

  // ---- Confirming -------------------------------------------------------------------------------

  confirmation_request confirmation() {
    const index_list order = order_by_score(alive_);
    const double best = mean_score(order.front());
    std::size_t simplest = order.front();
    for (const std::size_t i : order) {
      const bool equal = mean_score(i) <= best + margin_;
      if (equal && standing(i) <= standing(order.front())) simplest = std::min(simplest, i);
    }
    made_.prefers_file = simplest == 0;
    confirmation_request made;
    made.candidates = {0};
    const auto add = [&](std::size_t i) {
      const bool known = std::ranges::find(made.candidates, i) != made.candidates.end();
      if (!known && made.candidates.size() < most_confirmed) made.candidates.push_back(i);
    };
    add(simplest);
    for (const std::size_t i : order) add(i);
    for (const std::size_t i : made.candidates) {
      made_.candidates[i].outcome = search_outcome::confirmed;
    }
    made.how.seed = options_.seed;
    made.how.trials = confirming_trials;
    made.how.margin = margin_;
    made.how.tail = tail();
    const auto trials = static_cast<double>(confirming_trials);
    const std::int64_t needed = frames_to_confirm(made.candidates.size());
    const double left = std::max(0.0, limit() - elapsed());
    made.frames = frames_for(left, trials, made.candidates, std::max(needed, most_frames_));
    if (made.frames < needed) {  // an answer is worth exceeding the limit, by as long at most
      made.frames = std::max(made.frames, frames_for(limit(), trials, made.candidates, needed));
    }
    return made;
  }

  /// Returns the frames of a trial with which the confirmation can show the objective and the
  /// limits of percentiles.
  std::int64_t frames_to_confirm(std::size_t configurations) const {
    const auto p = percentile_of(goal_.objective);
    double needed = p ? static_cast<double>(samples_needed(*p)) : 0;
    const double outside = std::min(outside_95, 0.05 / static_cast<double>(configurations));
    for (const search_limit& each : goal_.limits) {
      auto limited = percentile_of(each.metric);
      if (each.metric == search_metric::late) limited = 1 - each.limit;
      if (limited) needed = std::max(needed, std::log(outside) / std::log(*limited));
    }
    constexpr double spare = 1.5;  // frames that are late together tell less
    return static_cast<std::int64_t>(
        std::ceil(spare * needed / static_cast<double>(confirming_trials)));
  }

  /// Returns the percentile to compare beside p50: the objective's, else that of a limit.
  double tail() const {
    const auto of_objective = percentile_of(goal_.objective);
    if (of_objective && *of_objective > 0.5) return *of_objective;
    for (const auto& each : goal_.limits) {
      if (const auto p = percentile_of(each.metric); p && *p > 0.5) return *p;
    }
    return experiment_settings{}.tail;
  }

  void finish_candidates() {
    const auto latency = percentile_of(goal_.objective) ? goal_.objective : search_metric::p50;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      const auto& of = samples_[i];
      if (of.trials() == 0) continue;
      auto& to = made_.candidates[i];
      to.trials = static_cast<std::int64_t>(of.trials());
      to.frames = of.frames();
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
  settings file_;
  double margin_ = experiment_settings{}.margin;
  std::vector<search_samples> samples_;                        // by candidate
  std::vector<std::optional<predicted_candidate>> predicted_;  // by candidate
  std::map<std::size_t, nanoseconds> frame_times_;             // of the last trial
  index_list alive_;
  std::int64_t trial_frames_ = 0;  // in the screening
  std::int64_t most_frames_ = 0;   // of a later trial
  nanoseconds begun_;
  search_record made_;
};

}  // namespace

experiment_record find_best_settings(const search_space& space, const search_measurements& by,
                                     const search_options& options) {
  return settings_search(space, by, options).search();
}

}  // namespace graphline
