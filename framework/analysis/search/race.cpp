#include "framework/analysis/search/race.hpp"

#include <algorithm>
#include <cmath>

#include "framework/analysis/stats/confidence.hpp"
#include "framework/analysis/stats/distribution.hpp"

namespace graphline {

std::vector<race_place> judge_race(std::span<const std::vector<double>> scores, double margin) {
  constexpr double most_prior = 4;  // blocks
  std::vector<race_place> places(scores.size(), race_place::open);
  if (scores.empty() || scores.front().empty()) return places;
  const auto leader = std::ranges::min_element(
      scores, {}, [](const std::vector<double>& of_one) { return mean_of(of_one); });
  places[static_cast<std::size_t>(leader - scores.begin())] = race_place::leads;
  const std::size_t blocks = leader->size();
  if (scores.size() < 2 || blocks < 2) return places;

  std::vector<double> means;
  std::vector<double> variances;
  double all = 0;
  for (const auto& of_one : scores) {
    std::vector<double> differences(blocks);
    std::ranges::transform(of_one, *leader, differences.begin(), std::minus<>());
    means.push_back(mean_of(differences));
    variances.push_back(std::pow(stddev_of(differences).value_or(0), 2));
    all += variances.back();
  }
  const double others = static_cast<double>(scores.size()) - 2;  // than a candidate and the leader
  const double freedom = static_cast<double>(blocks) - 1;
  const double prior = std::min(most_prior, others * freedom);
  const double t = student_t_critical(0.05 / (others + 1),
                                      static_cast<std::size_t>(std::floor(prior + freedom)));
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (places[i] == race_place::leads) continue;
    const double of_others = others > 0 ? (all - variances[i]) / others : 0;
    const double variance = (prior * of_others + freedom * variances[i]) / (prior + freedom);
    const double reach = t * std::sqrt(variance / static_cast<double>(blocks));
    if (means[i] + reach <= margin) {
      places[i] = race_place::same;
    } else if (means[i] - reach > 0) {
      places[i] = race_place::worse;
    }
  }
  return places;
}

}  // namespace graphline
