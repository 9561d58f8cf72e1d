#include "framework/campaign/predict/predicted_campaigns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "framework/base/error.hpp"
#include "framework/campaign/predict/predictor.hpp"

namespace graphline {
namespace {

/// Stage times do not tell what these change.
bool same_in_virtual_time(const settings& a, const settings& b) {
  return a.timing == b.timing && a.threads == b.threads && a.guard == b.guard &&
         a.realtime == b.realtime && a.max_time == b.max_time;
}

void check_parameters(const plan& p, const prediction_source& source) {
  for (const auto& [name, value] : p.parameters) {
    const auto& known = source.run.parameters;
    const auto there = std::ranges::find(known, name, &std::pair<std::string, std::string>::first);
    if (there == known.end() || there->second == value) continue;
    throw input_error(fmt::format(
        "{}: cannot use the stage times of this run: parameter '{}' is {} there, but {} "
        "in the experiment; omit --predict to measure the experiment",
        source.name, name, there->second, value));
  }
}

class predicted_trials final : public trial_runner {
 public:
  predicted_trials(const experiment_plan& planned, const std::vector<prediction_source>& sources) {
    for (const auto& [what, members] : planned.configurations) {
      try {
        add(members, planned.configurations.front(), sources);
      } catch (const input_error& e) {
        throw input_error(fmt::format("configuration '{}': {}", what.name, e.what()));
      }
    }
    for (const predictor& each : predictors_) {
      block_length_ = std::max(block_length_, each.times().block_length());
    }
  }

  std::vector<run_record> run(std::size_t configuration, const trial_request& request,
                              const stop_request*) override {
    std::vector<run_record> records;
    records.push_back(predictors_.at(configuration)
                          .replicate(request.number, {.frames = request.frames}, block_length_));
    records.front().source.reset();  // the experiment record contains the source
    return records;
  }

  std::optional<prediction_record> prediction() const override {
    return predictors_.front().origin();
  }

 private:
  void add(const std::vector<plan>& members, const planned_configuration& first,
           const std::vector<prediction_source>& sources) {
    if (members.size() > 1) {
      throw input_error(
          fmt::format("it runs {} pipelines at once, but --predict predicts one pipeline at a "
                      "time; omit --predict to measure the experiment",
                      members.size()));
    }
    const plan& p = members.front();
    if (!same_in_virtual_time(p.run, first.members.front().run)) {
      throw input_error(fmt::format(
          "it changes timing, threads, guard, realtime or max_time of '{}', whose effect "
          "--predict cannot tell; omit --predict to measure the experiment",
          first.what.name));
    }
    predictors_.emplace_back(p, sources);
    for (const prediction_source& source : sources) check_parameters(p, source);
  }

  std::deque<predictor> predictors_;  ///< by configuration
  std::size_t block_length_ = 1;
};

}  // namespace

std::unique_ptr<trial_runner> make_predicted_trials(const experiment_plan& planned,
                                                    const std::vector<prediction_source>& sources) {
  return std::make_unique<predicted_trials>(planned, sources);
}

probe_function make_predicted_probe(predictor& by, const capacity_settings& how,
                                    const stop_request* stop) {
  const auto run = [&by](const run_options& options) {
    // Each run of a search has a seed of its own, so it draws its source and frames, too.
    return by.replicate(*options.arrival_seed, {.frames = options.frames, .rate = options.rate});
  };
  return make_probe(run, {}, how, stop);
}

}  // namespace graphline
