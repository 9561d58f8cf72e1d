#include "framework/campaign/experiment/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <new>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/base/error.hpp"
#include "framework/base/random.hpp"
#include "framework/base/units.hpp"
#include "framework/run/execute/session.hpp"

namespace graphline {
namespace {

std::size_t as_size(std::int64_t count) {
  return static_cast<std::size_t>(std::max<std::int64_t>(0, count));
}

/// Returns the order of the configurations in a block.
std::vector<std::size_t> order_of(std::size_t block, std::size_t configurations,
                                  std::uint64_t seed) {
  std::vector<std::size_t> order(configurations);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 generator(mix_seed(seed, block));
  shuffle(order, generator);
  return order;
}

bool failed(const trial_record& trial) {
  return std::ranges::any_of(trial.members, [](const auto& m) { return m.failure.has_value(); });
}

bool interrupted(const trial_record& trial) {
  return std::ranges::any_of(trial.members, &run_record::interrupted);
}

/// Returns the time until the trial's last frame ended, without preparation.
nanoseconds length_of(const trial_record& trial) {
  nanoseconds length = 0;
  for (const auto& m : trial.members) {
    if (!m.frames.empty()) length = std::max(length, m.frames.back().end);
  }
  return length;
}

/// Runs a trial.
/// @throws error naming the configuration
trial_record trial_of(const experiment_plan& planned, trial_runner& runner, std::size_t block,
                      std::size_t configuration, const stop_request* stop) {
  try {
    return {.configuration = configuration,
            .block = block,
            .begun = 0,
            .members = runner.run(configuration, {.number = block}, stop)};
  } catch (const std::bad_alloc&) {
    throw run_error(fmt::format("configuration '{}': out of memory",
                                planned.configurations[configuration].what.name));
  }
}

/// Returns why a trial failed; empty if it did not.
std::string failure_of(const experiment_plan& planned, const trial_record& trial) {
  const auto& what = planned.configurations[trial.configuration].what;
  for (std::size_t i = 0; i < trial.members.size(); ++i) {
    const auto& problem = trial.members[i].failure;
    if (!problem) continue;
    const auto member = what.members.size() > 1 ? fmt::format(", '{}'", what.members[i]) : "";
    return fmt::format("a trial of configuration '{}'{} failed: {}", what.name, member, *problem);
  }
  return "";
}

std::string trials_of_each(std::size_t blocks) {
  return fmt::format("{} {} of each configuration", blocks, blocks == 1 ? "trial" : "trials");
}

class experiment_run {
 public:
  experiment_run(const experiment_plan& planned, trial_runner& runner,
                 const experiment_options& options)
      : planned_(planned),
        runner_(runner),
        options_(options),
        blocks_(as_size(planned.how.trials)) {
    record_.name = planned.name;
    record_.description = planned.description;
    record_.how = planned.how;
    record_.files = planned.files;
    for (const auto& source : planned.sources) {
      record_.sources.push_back({source->name(), source->text()});
    }
    for (const auto& c : planned.configurations) record_.configurations.push_back(c.what);
    record_.pairs = planned.pairs;
    record_.chains = planned.chains;
    record_.prediction = runner.prediction();
    add_done(options.done);
  }

  experiment_record run() {
    std::size_t next = open_block(0);
    while (goes_on(next)) {
      const std::size_t block = next;
      next = open_block(block + 1);
      const auto helped = options_.helpers != nullptr ? options_.helpers->count() : 0;
      const std::size_t most = requested() + (helped > 0 ? blocks_to_repeat() : 0);
      for (std::size_t h = 0; h < helped && next < most && !has_begun(next); ++h) {
        options_.helpers->begin(h, next, elapsed());
        next = open_block(next + 1);
      }
      blocks_ = std::max(blocks_, next);
      for (const std::size_t c : order_of(block, configurations(), planned_.how.seed)) {
        if (done_.contains({block, c})) continue;
        if (!run_trial(block, c)) return std::move(record_);
      }
      if (helped > 0 && !add_trials_of_helpers()) return std::move(record_);
    }
    report_progress({});
    return std::move(record_);
  }

 private:
  std::size_t configurations() const noexcept { return planned_.configurations.size(); }
  nanoseconds elapsed() const noexcept { return record_.prediction ? took_ : now() - began_; }

  /// Adds trials from before a pause, except failed trials, which run again.
  void add_done(const std::vector<trial_record>& done) {
    nanoseconds until = 0;
    for (const auto& trial : done) {
      if (failed(trial)) continue;
      until = std::max(until, trial.begun + length_of(trial));
      keep(trial, length_of(trial));
    }
    began_ = now() - until;
    for (const auto& trial : done) {
      if (trial.place != options_.place && !is_complete(trial.block))
        abandoned_.insert(trial.block);
    }
  }

  bool has_begun(std::size_t block) const {
    const auto first = done_.lower_bound({block, 0});
    return first != done_.end() && first->first == block;
  }

  bool is_complete(std::size_t block) const {
    return std::distance(done_.lower_bound({block, 0}), done_.lower_bound({block + 1, 0})) ==
           std::ssize(planned_.configurations);
  }

  /// Returns the first block from `block` on in which this process may run trials.
  std::size_t open_block(std::size_t block) const {
    while (abandoned_.contains(block) || is_complete(block)) ++block;
    return block;
  }

  /// Returns the number of blocks to run, with those that replace incomplete ones.
  std::size_t requested() const noexcept {
    return as_size(planned_.how.trials) + abandoned_.size();
  }

  /// Keeps the trials of the blocks that helpers ran. Returns false if the experiment ends.
  bool add_trials_of_helpers() {
    auto trials = options_.helpers->trials();
    if (!trials) return interrupt();
    for (auto& trial : *trials) {
      const nanoseconds took = length_of(trial);
      if (!keep_and_report(std::move(trial), took)) return false;
    }
    return true;
  }

  void keep(trial_record trial, nanoseconds took) {
    done_.emplace(trial.block, trial.configuration);
    took_ += took;
    record_.trials.push_back(std::move(trial));
  }

  /// Returns true if a block is to begin or to be completed. Otherwise sets `stopped` to the reason
  /// if requested trials are missing.
  bool goes_on(std::size_t block) {
    if (has_begun(block)) return true;
    std::size_t done = 0;
    for (std::size_t b = 0; b < block; ++b) done += is_complete(b) ? 1 : 0;
    if (const auto& width = planned_.how.narrow_to;
        width && block > 0 && !planned_.pairs.empty() && narrow_enough(record_, *width)) {
      if (block < requested()) {
        record_.stopped =
            fmt::format("every interval reached at most {:.3g} % to either side after {}",
                        *width * 100, trials_of_each(done));
      }
      return false;
    }
    if (block >= requested() && !is_to_repeat(block)) return false;
    if (const auto& limit = planned_.how.time_limit; limit && done > 0 && elapsed() >= *limit) {
      record_.stopped =
          fmt::format("the time limit of {} was reached after {}",
                      format_duration(static_cast<double>(*limit)), trials_of_each(done));
      return false;
    }
    return true;
  }

  /// Returns the number of blocks to repeat.
  std::size_t blocks_to_repeat() const {
    if (!planned_.how.repeat_affected) return 0;
    const auto machine = steadiness_of(record_);
    return machine.affected_blocks.size() + machine.stood_still_blocks.size();
  }

  /// Returns true if an additional block must replace a disturbed block.
  bool is_to_repeat(std::size_t block) {
    const auto asked = requested();
    if (!planned_.how.repeat_affected) return false;
    const auto affected = blocks_to_repeat();
    if (block - asked >= affected) return false;
    if (block < 2 * asked) return true;
    record_.stopped = fmt::format(
        "{} of {} blocks of trials were disturbed (machine noise), too many to repeat: end other "
        "programs, or check the machine's temperature and power limit",
        affected, block);
    return false;
  }

  /// Runs a trial. Returns false if the experiment ends with it.
  bool run_trial(std::size_t block, std::size_t configuration) {
    if (options_.stop != nullptr && options_.stop->raised()) return interrupt();
    report_progress(planned_.configurations[configuration].what.name);
    const nanoseconds begun = elapsed();
    trial_record trial;
    try {
      trial = trial_of(planned_, runner_, block, configuration, options_.stop);
    } catch (const error& e) {
      return e.status() == exit_status::interrupted ? interrupt() : fail(e.what());
    }
    if (interrupted(trial) && !failed(trial)) return interrupt();
    trial.begun = begun;
    trial.place = options_.place;
    add_warnings(trial, options_.warnings);
    const nanoseconds took = record_.prediction ? length_of(trial) : elapsed() - begun;
    return keep_and_report(std::move(trial), took);
  }

  bool keep_and_report(trial_record trial, nanoseconds took) {
    keep(std::move(trial), took);
    const trial_record& kept = record_.trials.back();
    if (options_.on_trial) options_.on_trial(kept);
    return !failed(kept) || fail(failure_of(planned_, kept));
  }

  bool interrupt() {
    record_.interrupted = true;
    record_.stopped = "interrupted";
    return false;
  }

  bool fail(std::string what) {
    record_.failure = record_.stopped = std::move(what);
    return false;
  }

  /// Estimates the remaining time from the mean time of the trials so far, up to the time limit.
  /// Empty before the first trial, and if the trials are predicted.
  std::optional<nanoseconds> time_left() const {
    if (done_.empty() || record_.prediction) return std::nullopt;
    const auto trials = blocks_ * configurations();
    const auto ranks = 1 + (options_.helpers != nullptr ? options_.helpers->count() : 0);
    const auto left = static_cast<nanoseconds>((trials - std::min(trials, done_.size())) / ranks);
    const auto limit = planned_.how.time_limit.value_or(std::numeric_limits<nanoseconds>::max());
    return std::min(left * (took_ / static_cast<nanoseconds>(done_.size())),
                    std::max<nanoseconds>(0, limit - elapsed()));
  }

  void report_progress(std::string_view next) const {
    if (!options_.on_progress) return;
    options_.on_progress({.done = static_cast<std::int64_t>(record_.trials.size()),
                          .total = static_cast<std::int64_t>(blocks_ * configurations()),
                          .left = next.empty() ? 0 : time_left(),
                          .configuration = next});
  }

  const experiment_plan& planned_;
  trial_runner& runner_;
  const experiment_options& options_;
  experiment_record record_;
  std::set<std::pair<std::size_t, std::size_t>> done_;  ///< block and configuration
  std::set<std::size_t> abandoned_;  ///< blocks that another process left incomplete
  std::size_t blocks_;               ///< maximum number of blocks
  nanoseconds took_ = 0;             ///< sum over all trials
  nanoseconds began_ = 0;  ///< host time at which the experiment would have begun without pauses
};

}  // namespace

experiment_record run_experiment(const experiment_plan& planned, trial_runner& runner,
                                 const experiment_options& options) {
  return experiment_run(planned, runner, options).run();
}

void add_warnings(trial_record& trial, const std::vector<std::string>& warnings) {
  for (run_record& run : trial.members) {
    std::ranges::copy(warnings, std::back_inserter(run.warnings));
  }
}

std::vector<trial_record> run_block(const experiment_plan& planned, trial_runner& runner,
                                    std::size_t block, nanoseconds begun,
                                    const stop_request& stop) {
  const nanoseconds began = now();
  std::vector<trial_record> trials;
  for (const std::size_t c : order_of(block, planned.configurations.size(), planned.how.seed)) {
    const nanoseconds since = now() - began;
    trials.push_back(trial_of(planned, runner, block, c, &stop));
    trials.back().begun = begun + since;
    if (failed(trials.back())) throw run_error(failure_of(planned, trials.back()));
    if (interrupted(trials.back())) throw interrupted_error("interrupted");
  }
  return trials;
}

namespace {

constexpr std::int64_t frames_tried = 2;

/// Returns the mean time per frame in ns; 0 without frames. With several members, the foreground
/// may end before another member begins a frame.
double time_of_frame(const run_record& record) {
  if (record.frames.empty()) return 0;
  nanoseconds end = 0;
  for (const auto& frame : record.frames) end = std::max(end, frame.end);
  return static_cast<double>(end - record.frames.front().begin) /
         static_cast<double>(record.frames.size());
}

/// Returns a member's run time in ns: the warm-up, which is a closed loop, and the measured frames.
double time_of_run(const settings& run, double frame) {
  const double measured = run.rate ? std::max(frame, 1e9 / *run.rate) : frame;
  return static_cast<double>(run.warmup) * frame + static_cast<double>(run.frames) * measured;
}

/// Estimates the length of a trial as the longest time of its first member and its members on a
/// schedule.
nanoseconds time_of_trial(const planned_configuration& configuration,
                          const std::vector<run_record>& tried,
                          const std::optional<nanoseconds>& horizon) {
  double longest = 0;
  for (std::size_t i = 0; i < tried.size(); ++i) {
    auto run = configuration.members[i].run;
    if (horizon) run.frames = 0;
    const double time = time_of_run(run, time_of_frame(tried[i]));
    if (i == 0 || run.arrival != arrival::closed) longest = std::max(longest, time);
  }
  return static_cast<nanoseconds>(longest) + horizon.value_or(0);
}

}  // namespace

std::vector<nanoseconds> try_out(const experiment_plan& planned, trial_runner& runner,
                                 const stop_request* stop,
                                 const std::function<void(std::size_t)>& on_progress) {
  std::vector<nanoseconds> times;
  for (std::size_t i = 0; i < planned.configurations.size(); ++i) {
    const auto& configuration = planned.configurations[i];
    const auto tried = runner.run(i, {.frames = frames_tried, .warmup = 1}, stop);
    for (const auto& record : tried) {
      if (record.failure) {
        throw run_error(
            fmt::format("configuration '{}': {}", configuration.what.name, *record.failure));
      }
      if (record.interrupted) {
        throw interrupted_error(
            "interrupted while trying the configurations; nothing was measured");
      }
    }
    times.push_back(time_of_trial(configuration, tried, planned.how.horizon));
    if (on_progress) on_progress(i + 1);
  }
  return times;
}

namespace {

std::int64_t frames_for_a_quarter_second(const run_record& warmup) {
  if (warmup.frames.empty()) return 3;
  const auto& first = warmup.frames.front();
  const auto& last = warmup.frames.back();
  const auto frame = std::max<nanoseconds>(
      1, (last.end - first.begin) / static_cast<nanoseconds>(warmup.frames.size()));
  return std::clamp<std::int64_t>(250'000'000 / frame, 3, 45);
}

/// Runs one session, with a different timing method for each configuration.
class timing_runner : public trial_runner {
 public:
  timing_runner(session& s, std::vector<timing_method> methods, std::int64_t frames)
      : session_(s), methods_(std::move(methods)), frames_(frames) {}

  std::vector<run_record> run(std::size_t configuration, const trial_request& request,
                              const stop_request* stop) override {
    if (!warm_) {
      auto record = warm_up(stop);
      if (record.failure || record.interrupted) return {std::move(record)};
      if (frames_ == 0) frames_ = frames_for_a_quarter_second(record);
      warm_ = true;
    }
    run_options trial;
    trial.timing = methods_[configuration];
    trial.warmup = 1;
    trial.frames = frames_;
    trial.arrival_seed = mix_seed(session_.planned().run.seed, request.number);
    trial.stop = stop;
    auto record = session_.run(trial);
    record.source.reset();  // the experiment record contains both
    record.files.clear();
    return {std::move(record)};
  }

 private:
  /// Warms up before the first trial, so that each trial needs only one warm-up frame.
  run_record warm_up(const stop_request* stop) {
    run_options warmup;
    warmup.timing = timing_method::none;
    warmup.warmup = 0;
    warmup.frames = std::max<std::int64_t>(1, session_.planned().run.warmup);
    warmup.stop = stop;
    return session_.run(warmup);
  }

  session& session_;
  std::vector<timing_method> methods_;
  std::int64_t frames_;
  bool warm_ = false;
};

experiment_plan plan_of(const plan& pipeline, const std::vector<timing_method>& methods,
                        std::int64_t trials) {
  experiment_plan planned;
  planned.name = pipeline.pipeline;
  planned.description = pipeline.description;
  planned.how.trials = trials;
  planned.how.seed = pipeline.run.seed;
  if (pipeline.source) planned.sources.push_back(pipeline.source);
  planned.files = pipeline.files;
  for (const auto method : methods) {
    const std::string word(to_word(method));
    const auto number = planned.configurations.size();
    planned.configurations.push_back(
        {{"timing=" + word, {{"timing", word}}, {pipeline.pipeline}}, {}});
    if (number > 0) planned.pairs.push_back({{number, 0}, {0, 0}});
  }
  return planned;
}

}  // namespace

experiment_record compare_timing_methods(session& s, const timing_experiment_options& options) {
  const auto methods = s.timing_methods();
  timing_runner runner(s, methods, options.frames);
  return run_experiment(plan_of(s.planned(), methods, options.trials), runner,
                        {.stop = options.stop, .on_progress = options.on_progress});
}

}  // namespace graphline
