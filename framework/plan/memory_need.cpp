#include "framework/plan/memory_need.hpp"

#include <algorithm>
#include <limits>

namespace graphline {
namespace {

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

}  // namespace

std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) noexcept {
  return a > most - b ? most : a + b;
}

std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b) noexcept {
  return b != 0 && a > most / b ? most : a * b;
}

std::uint64_t memory_part::total() const noexcept {
  return saturating_add(slots, saturating_add(inputs, weights));
}

std::uint64_t weight_bytes(const planned_stage& stage) noexcept {
  return saturating_multiply(
      static_cast<std::uint64_t>(std::max<std::int64_t>(stage.shape.cost.parameters, 0)), 4);
}

memory_need need_of(const plan& p, const placement& placed) {
  memory_need need;
  const auto in_flight = static_cast<std::uint64_t>(std::max<std::int64_t>(p.run.in_flight, 1));
  need.device.slot = placed.device_bytes;
  need.host.slot = placed.pinned_bytes;
  need.device.slots = saturating_multiply(need.device.slot, in_flight);
  need.host.slots = saturating_multiply(need.host.slot, in_flight);
  for (const planned_tensor& tensor : p.tensors) {
    if (!tensor.input) continue;
    memory_part& part = tensor.on == side::device ? need.device : need.host;
    part.inputs = saturating_add(part.inputs, tensor.type.bytes());
  }
  for (const planned_stage& stage : p.stages) {
    memory_part& part = stage.on == side::device ? need.device : need.host;
    part.weights = saturating_add(part.weights, weight_bytes(stage));
  }
  return need;
}

}  // namespace graphline
