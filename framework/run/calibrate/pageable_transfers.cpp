#include "framework/run/calibrate/pageable_transfers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "framework/base/units.hpp"
#include "framework/run/execute/input_fill.hpp"

namespace graphline {

pageable_transfers::pageable_transfers(const calibration_sizes& sizes, device& d)
    : sizes_(sizes),
      device_(d),
      stream_(d.make_stream("ordinary memory", priority::normal)),
      there_(d.allocate(std::max(sizes.transfer_bytes / sizeof(float), std::size_t{1}) *
                        sizeof(float))),
      here_(there_.bytes() / sizeof(float)) {
  const shape all{static_cast<std::int64_t>(here_.size())};
  fill_input({here_.data(), {all, dtype::float32}}, fill::uniform, 1);
  const auto how = fmt::format("{} at a time, by the host's clock", format_bytes(there_.bytes()));
  for (const ceiling what : {ceiling::host_to_device_pageable, ceiling::device_to_host_pageable}) {
    ceilings_.push_back({what, precision::float32, how, static_cast<double>(there_.bytes()), {}});
  }
}

void pageable_transfers::add_samples(const stop_request* stop) {
  copy(there_.data(), here_.data());
  nanoseconds together = 0;
  for (std::int64_t i = 0; i < sizes_.most_samples; ++i) {
    if (stop != nullptr && stop->raised()) return;
    if (i >= 3 && together >= sizes_.time_each) return;
    const nanoseconds sent = copy(there_.data(), here_.data());
    const nanoseconds returned = copy(here_.data(), there_.data());
    ceilings_[0].times.push_back(sent);
    ceilings_[1].times.push_back(returned);
    together += sent + returned;
  }
}

nanoseconds pageable_transfers::copy(void* to, const void* from) {
  const nanoseconds begin = now();
  stream_->copy(to, from, there_.bytes());
  device_.synchronize(wait_mode::block);
  return now() - begin;
}

}  // namespace graphline
