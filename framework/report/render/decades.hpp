#pragma once

#include <algorithm>
#include <cmath>
#include <string>

namespace graphline {

/// A logarithmic axis, from the half decade below the least of some values to that above the
/// largest.
class decades {
 public:
  /// Above 0 and finite; others are passed over.
  void include(double value) {
    if (!(value > 0) || !std::isfinite(value)) return;
    const double log = std::log10(value);
    low_ = std::min(low_, std::floor(2 * log) / 2);
    high_ = std::max(high_, std::ceil(2 * log) / 2);
  }

  /// The first and the last whole decade in it.
  int first() const { return static_cast<int>(std::ceil(low_)); }
  int last() const { return static_cast<int>(std::floor(high_)); }

  /// 0 at the low end, 1 at the high one.
  double share(double value) const { return (std::log10(value) - low_) / (high_ - low_); }
  double share_of_decade(int d) const { return (d - low_) / (high_ - low_); }

  double value(double share) const { return std::pow(10.0, low_ + share * (high_ - low_)); }

 private:
  double low_ = 99;
  double high_ = -99;
};

/// What a whole decade is called at an axis: "100 G", "1", "0.01", "1e-5".
std::string tick(int decade);

}  // namespace graphline
