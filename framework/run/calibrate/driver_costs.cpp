#include "framework/run/calibrate/driver_costs.hpp"

#include <fmt/format.h>

namespace graphline {

namespace {

constexpr std::size_t small_bytes = 256;

}  // namespace

driver_costs::driver_costs(const calibration_sizes& sizes, device& d)
    : sizes_(sizes),
      device_(d),
      stream_(d.make_stream("costs of the host", priority::normal)),
      touched_(d.allocate(small_bytes)),
      seen_(d.make_event("end of a round trip", wait_mode::spin)),
      recorded_(d.make_timed_event("recorded")) {
  const auto fill = [&] { stream_->fill(touched_.data(), std::byte{1}, small_bytes); };
  small_ = d.capture(*stream_, fill)->instantiate();
  const auto calls = static_cast<double>(sizes.calls);
  const std::string graph = fmt::format("a graph that fills {} bytes", small_bytes);
  const std::string many = fmt::format("{} at a time", sizes.calls);
  ceilings_ = {
      {ceiling::launch, precision::float32, graph + ", " + many, calls, {}},
      {ceiling::event, precision::float32, "a timed event, " + many, calls, {}},
      {ceiling::synchronize, precision::float32, "an idle device, " + many, calls, {}},
      {ceiling::round_trip, precision::float32, graph + ", its end awaited by spin", 1, {}}};
}

void driver_costs::add_samples(const stop_request* stop) {
  round_trip();
  const auto launch = [&] { stream_->launch(*small_); };
  const auto record = [&] { stream_->record(*recorded_); };
  const auto synchronize = [&] { device_.synchronize(wait_mode::spin); };
  for (std::int64_t i = 0; i < sizes_.most_samples; ++i) {
    if (stop != nullptr && stop->raised()) return;
    ceilings_[0].times.push_back(time_of(sizes_.calls, launch));
    ceilings_[1].times.push_back(time_of(sizes_.calls, record));
    ceilings_[2].times.push_back(time_of(sizes_.calls, synchronize));
    ceilings_[3].times.push_back(time_of(1, [&] { round_trip(); }));
  }
}

nanoseconds driver_costs::time_of(std::int64_t calls, const std::function<void()>& call) {
  const nanoseconds begin = now();
  for (std::int64_t i = 0; i < calls; ++i) call();
  const nanoseconds time = now() - begin;
  device_.synchronize(wait_mode::block);
  return time;
}

void driver_costs::round_trip() {
  stream_->launch(*small_);
  stream_->record(*seen_);
  seen_->wait(wait_mode::spin);
}

}  // namespace graphline
