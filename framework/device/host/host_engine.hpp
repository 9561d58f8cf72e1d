#pragma once

#include <utility>

#include "framework/device/backend_parts.hpp"
#include "framework/device/host/host_capture.hpp"
#include "framework/device/host/host_worker.hpp"
#include "framework/device/host/lane.hpp"
#include "framework/device/host/operation_log.hpp"

namespace graphline {

/// What the streams, events and graphs of one `host` device share. The worker stands last, so that
/// it stops before what it serves goes.
struct host_engine {
  host_engine(int compute_threads, cpu_split cpus)
      : worker(lanes, failed, log, compute_threads, std::move(cpus)) {}

  failure failed;
  lane_table lanes;
  host_captures captures;
  operation_log log;
  host_worker worker;
};

}  // namespace graphline
