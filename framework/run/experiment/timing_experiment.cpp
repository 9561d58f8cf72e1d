#include "framework/run/experiment/experiment.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/random.hpp"
#include "framework/run/execute/session.hpp"

namespace graphline {
namespace {

std::int64_t frames_for_a_quarter_second(const run_record& warmup) {
  if (warmup.frames.empty()) return 3;
  const auto& first = warmup.frames.front();
  const auto& last = warmup.frames.back();
  const auto frame = std::max<nanoseconds>(
      1, (last.end - first.begin) / static_cast<nanoseconds>(warmup.frames.size()));
  return std::clamp<std::int64_t>(250'000'000 / frame, 3, 45);
}

/// Runs one session under a timing method for each configuration.
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
    record.source.reset();  // the experiment has it, once
    return {std::move(record)};
  }

 private:
  /// Once for the whole machine; each trial then only has a frame to settle.
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
