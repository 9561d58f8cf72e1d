#include "framework/campaign/search/candidate_predictor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "framework/base/error.hpp"
#include "framework/campaign/predict/predictor.hpp"

namespace graphline {

const std::vector<prediction_source>& candidate_predictor::sources_of(std::size_t candidate) {
  const plan& p = planned_.configurations[candidate].members.front();
  const auto [known, is_new] =
      sources_.try_emplace(fmt::format("{} {}", p.run.threads, p.parameters));
  if (!is_new || sources_.size() > most_sources) return known->second;
  try {
    run_record run = apart_(candidate);
    if (run.interrupted) throw interrupted_error("interrupted");
    source_frames_ += static_cast<std::int64_t>(run.frames.size());
    if (!run.failure) known->second.push_back({"the run of each stage alone", std::move(run)});
  } catch (const run_error&) {  // no source; a trial will show the failure
  } catch (const input_error&) {
  }
  return known->second;
}

std::optional<run_record> candidate_predictor::predict(std::size_t candidate, std::int64_t frames) {
  const auto& sources = sources_of(candidate);
  if (sources.empty()) return std::nullopt;
  try {
    return predictor(planned_.configurations[candidate].members.front(), sources)
        .replicate(0, {.frames = frames});
  } catch (const input_error&) {
    return std::nullopt;
  }
}

}  // namespace graphline
