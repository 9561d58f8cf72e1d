#pragma once

#include <fmt/format.h>

#include <type_traits>
#include <typeinfo>

#include "framework/base/error.hpp"
#include "framework/device/host/failure.hpp"
#include "framework/device/host/host_capture.hpp"
#include "framework/device/host/host_worker.hpp"
#include "framework/device/host/lane_table.hpp"
#include "framework/device/host/operation_log.hpp"

namespace graphline {

/// What the streams, events and graphs of one `host` device share. The worker stands last, so that
/// it stops before what it serves goes.
struct host_engine {
  explicit host_engine(int compute_threads) : worker(lanes, failed, log, compute_threads) {}

  failure failed;
  lane_table lanes;
  capture_registry captures;
  operation_log log;
  host_worker worker;
};

/// `object` as the `host` type it must be, of the device that `engine` belongs to. Throws
/// `run_error` when it belongs to another device. T is final, so comparing the types is enough.
template <class T, class U>
auto& same_engine(U& object, const host_engine& engine) {
  using result = std::conditional_t<std::is_const_v<U>, const T, T>;
  if (typeid(object) == typeid(T)) {
    auto& ours = static_cast<result&>(object);
    if (&ours.engine() == &engine) return ours;
  }
  throw run_error(
      "a stream, event or graph of one device was used with another; make it on the device that "
      "uses it");
}

}  // namespace graphline
