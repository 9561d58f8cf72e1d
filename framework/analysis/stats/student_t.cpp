#include "framework/analysis/stats/student_t.hpp"

#include <cmath>
#include <numbers>

namespace graphline {
namespace {

/// Where `beyond`, which falls from 1 to 0 between 0 and `end`, is `level`: halved until doubles
/// tell no more.
template <class F>
double fall_to(double level, double end, F beyond) {
  double low = 0;
  double high = end;
  for (;;) {
    const double middle = (low + high) / 2;
    if (middle <= low || middle >= high) return middle;
    (beyond(middle) > level ? low : high) = middle;
  }
}

/// P(|T| > t) for t = sqrt(freedom) tan(angle). Abramowitz and Stegun, "Handbook of Mathematical
/// Functions", 26.7.3 and 26.7.4: finite sums, one for odd and one for even degrees of freedom.
double beyond_angle(double angle, std::size_t freedom) {
  const double cosine = std::cos(angle);
  const bool odd = freedom % 2 == 1;
  double term = odd ? cosine : 1;
  double sum = freedom == 1 ? 0 : term;
  for (std::size_t k = odd ? 3 : 2; k < freedom; k += 2) {
    term *= cosine * cosine * static_cast<double>(k - 1) / static_cast<double>(k);
    sum += term;
  }
  const double within = std::sin(angle) * sum;
  return 1 - (odd ? (angle + within) * 2 * std::numbers::inv_pi : within);
}

/// Abramowitz and Stegun 26.7.5, to the third power of 1 / freedom.
double from_normal(double z, double freedom) {
  const double s = z * z;
  const double first = (s + 1) / 4;
  const double second = ((5 * s + 16) * s + 3) / 96;
  const double third = (((3 * s + 19) * s + 17) * s - 15) / 384;
  return z * (1 + (first + (second + third / freedom) / freedom) / freedom);
}

// From here on the expansion is as good as the sums, which grow with the degrees of freedom.
constexpr std::size_t many = 200;

}  // namespace

double normal_critical(double level) {
  constexpr double end = 40;  // beyond it not even the least double is left
  return fall_to(level, end, [](double z) { return std::erfc(z / std::numbers::sqrt2); });
}

double student_t_critical(double level, std::size_t freedom) {
  if (freedom > many) return from_normal(normal_critical(level), static_cast<double>(freedom));
  const double angle =
      fall_to(level, std::numbers::pi / 2, [&](double a) { return beyond_angle(a, freedom); });
  return std::sqrt(static_cast<double>(freedom)) * std::tan(angle);
}

}  // namespace graphline
