#include "framework/device/operation_log.hpp"

#include <utility>

#include "framework/base/error.hpp"

namespace graphline {

class operation_log::logged_trace final : public operation_trace {
 public:
  explicit logged_trace(operation_log& log) : log_(log) {}
  ~logged_trace() override { log_.end(); }

  std::vector<operation_time> take() override { return log_.take(); }

 private:
  operation_log& log_;
};

std::unique_ptr<operation_trace> operation_log::trace() {
  const std::scoped_lock lock(mutex_);
  if (is_on()) {
    throw run_error(
        "the operations of this device are being traced already; end that trace before another "
        "begins");
  }
  auto trace = std::make_unique<logged_trace>(*this);
  on_.store(true, std::memory_order_relaxed);
  return trace;
}

void operation_log::note(std::string name, nanoseconds duration) {
  const std::scoped_lock lock(mutex_);
  // The trace may have ended meanwhile.
  if (is_on()) notes_.push_back({std::move(name), duration});
}

void operation_log::end() noexcept {
  const std::scoped_lock lock(mutex_);
  on_.store(false, std::memory_order_relaxed);
  notes_ = {};
}

std::vector<operation_time> operation_log::take() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(notes_, {});
}

}  // namespace graphline
