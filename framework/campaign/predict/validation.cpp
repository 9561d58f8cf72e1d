#include "framework/campaign/predict/validation.hpp"

#include <algorithm>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/random.hpp"

namespace graphline {

validation_record validate(const plan& wanted, const validation_run& run,
                           const validation_source& source, const validation_options& options) {
  auto how = options.prediction;
  how.replicates = 0;
  std::optional<run_record> predicted;
  if (const auto* saved = std::get_if<std::vector<prediction_source>>(&source)) {
    predicted = predict(wanted, *saved, how);
    predicted->source.reset();
  }
  validation_record made{options.rounds, {}, false, {}};
  std::mt19937_64 random(wanted.run.seed);
  for (std::int64_t round = 0; round < options.rounds; ++round) {
    run_record measured;
    run_record times;
    std::vector<std::pair<const validation_run*, run_record*>> runs = {{&run, &measured}};
    if (const auto* own = std::get_if<validation_run>(&source)) runs.push_back({own, &times});
    shuffle(runs, random);
    const bool complete = std::ranges::all_of(runs, [&](const auto& of) {
      made.interrupted = options.stop != nullptr && options.stop->raised();
      if (made.interrupted) return false;
      *of.second = (*of.first)(round);
      made.failure = of.second->failure;
      made.interrupted = of.second->interrupted;
      return !made.failure && !made.interrupted;
    });
    if (!complete) break;
    if (!made.rounds.empty()) measured.source.reset();  // each is the same file
    if (std::holds_alternative<validation_run>(source)) {
      predicted = predict(wanted, {{"the serial run of each round", std::move(times)}}, how);
      predicted->source.reset();
    }
    made.rounds.push_back({std::move(measured), *predicted});
  }
  if (made.failure && made.rounds.empty()) throw run_error(*made.failure);
  return made;
}

}  // namespace graphline
