#include "framework/run/execute/clock_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "framework/base/error.hpp"

namespace graphline {
namespace {

/// Puts stamps that were read with a drift where they belong: none is taken from one at `begin`,
/// all of it from one that lies as far off `end` as the clock then did.
class even_drift {
 public:
  even_drift(nanoseconds begin, nanoseconds end, nanoseconds drift)
      : begin_(begin),
        part_(static_cast<double>(drift) / static_cast<double>(end - begin + drift)) {}

  void take_out_of(std::vector<stamp_pair>& stamps) const {
    for (auto& s : stamps) s = {without(s.begin), without(s.end)};
  }

 private:
  nanoseconds without(nanoseconds stamp) const {
    return stamp - std::llround(static_cast<double>(stamp - begin_) * part_);
  }

  nanoseconds begin_;
  double part_;
};

}  // namespace

clock_watch::clock_watch(device& d) : device_(d) {
  before_ = check("before");
}

void clock_watch::end() {
  after_ = check("after");
}

std::optional<clock_check> clock_watch::check(const char* when) {
  try {
    return device_.check_clock();
  } catch (const run_error& e) {
    warnings_.push_back(
        fmt::format("the device's clock could not be checked {} the frames, "
                    "so that the error of its times is not known: {}",
                    when, e.what()));
    return std::nullopt;
  }
}

void clock_watch::settle(run_record& record, nanoseconds epoch) const {
  record.warnings.insert(record.warnings.end(), warnings_.begin(), warnings_.end());
  for (const auto& found : {before_, after_}) {
    if (found) record.clock_error = std::max(record.clock_error, found->error);
  }
  if (!before_ || !after_) return;
  record.clock_error += after_->rounding;
  const nanoseconds drift = after_->drift;
  record.clock_drift = drift;
  const nanoseconds lasted = after_->at - before_->at;
  if (drift == 0 || lasted <= 0 || lasted + drift <= 0) return;
  const even_drift between(before_->at - epoch, after_->at - epoch, drift);
  for (auto& stage : record.stages) {
    between.take_out_of(stage.device);
    for (auto& part : stage.parts) between.take_out_of(part.device);
  }
}

}  // namespace graphline
