#pragma once

#include <memory>
#include <span>
#include <utility>

#include "stages/cpu/pictures.hpp"
#include "stages/kinds.hpp"

namespace graphline {

/// Completes a kind of pictures, whose `prepare` leaves the factories unset, as a CPU stage.
template <class Stage>
stage_kind pictures_on_cpu(stage_kind kind) {
  kind.on = side::cpu;
  kind.prepare = [prepare = std::move(kind.prepare)](const arguments& given,
                                                     std::span<const tensor_type> inputs,
                                                     diagnostics& out) {
    prepared_stage result = prepare(given, inputs, out);
    result.make_cpu = make_cpu_stage<Stage>;
    return result;
  };
  return kind;
}

/// Completes the same kind as a device stage, with the same loops on `host`.
template <class Stage>
stage_kind pictures_on_device(stage_kind kind, const device_stage_factory& make_cuda) {
  const auto make = [](const stage_config& config) { return std::make_unique<Stage>(config); };
  device_stage_factory make_host = pictures_on_host(kind.name, make);
  return on_devices(std::move(kind), std::move(make_host), make_cuda);
}

}  // namespace graphline
