#include "framework/analysis/stats/confidence.hpp"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace graphline {
namespace {

namespace bm = boost::math;

// Overflow gives infinity and a search that runs out of steps its best estimate; neither throws.
// A quantile of the binomial distribution is the first value that reaches the probability.
using policy =
    bm::policies::policy<bm::policies::promote_double<false>,
                         bm::policies::overflow_error<bm::policies::ignore_error>,
                         bm::policies::evaluation_error<bm::policies::ignore_error>,
                         bm::policies::discrete_quantile<bm::policies::integer_round_up>>;

}  // namespace

double normal_critical(double level) {
  return quantile(complement(bm::normal_distribution<double, policy>(), level / 2));
}

double student_t_critical(double level, std::size_t freedom) {
  const bm::students_t_distribution<double, policy> t(static_cast<double>(freedom));
  return quantile(complement(t, level / 2));
}

rank_interval interval_ranks(double p, std::size_t independent, std::size_t count) {
  constexpr double outside = 0.025;  // on either side
  const auto n = static_cast<double>(independent);
  const auto rank_in_sample = [&](double rank) -> std::size_t {
    if (rank < 1 || rank > n) return 0;
    return (static_cast<std::size_t>(rank) * count + independent - 1) / independent;
  };
  const bm::binomial_distribution<double, policy> below(n, p);  // values below the percentile
  return {rank_in_sample(quantile(below, outside)),
          rank_in_sample(quantile(complement(below, outside)) + 1)};
}

}  // namespace graphline
