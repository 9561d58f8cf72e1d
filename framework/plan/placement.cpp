#include "framework/plan/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "framework/base/first_fit.hpp"
#include "framework/base/units.hpp"
#include "framework/plan/draft.hpp"
#include "framework/record/kept_columns.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {
namespace {

/// A tensor or scratch buffer of one slot.
struct item {
  std::size_t bytes = 0;     ///< a multiple of the alignment
  std::size_t born = 0;      ///< the stage that uses it first
  bit_set after;             ///< stages that start only after its last use
  std::size_t* offset = {};  ///< member of the placement to write to
};

/// Places the items of one block. Returns the size of the block that contains them, in bytes.
std::size_t place_block(const std::vector<item>& items) {
  std::vector<std::size_t> bytes;
  for (const item& i : items) bytes.push_back(i.bytes);
  const block_layout layout = place_first_fit(bytes, [&](std::size_t a, std::size_t b) {
    return items[a].after[items[b].born] || items[b].after[items[a].born];
  });
  for (std::size_t i = 0; i < items.size(); ++i) *items[i].offset = layout.offsets[i];
  return layout.bytes;
}

std::size_t sum_of_bytes(const std::vector<item>& items) {
  std::size_t sum = 0;
  for (const item& i : items) sum += i.bytes;
  return sum;
}

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

/// Returns the bytes of a stage's weights, 4 per weight; at most 2^64 - 1.
std::uint64_t weight_bytes(const planned_stage& stage) noexcept {
  return saturating_multiply(
      static_cast<std::uint64_t>(std::max<std::int64_t>(stage.prepared->cost.parameters, 0)), 4);
}

}  // namespace

placement place_buffers(const plan& p, const std::vector<std::size_t>& scratch) {
  placement result;
  result.tensor_offset.assign(p.tensors.size(), placement::none);
  result.scratch_offset.assign(p.stages.size(), placement::none);
  std::vector<std::vector<item>> on_devices(p.devices.size());
  std::vector<item> on_cpu;
  for (std::size_t t = 0; t < p.tensors.size(); ++t) {
    const planned_tensor& tensor = p.tensors[t];
    if (tensor.input) continue;
    const bool device = tensor.on == side::device;
    const std::size_t guards = p.run.guard && !device ? 2 * guard_bytes : 0;
    item i{aligned_bytes(tensor.type.bytes()) + guards, tensor.producer, bit_set(p.stages.size()),
           &result.tensor_offset[t]};
    // Outputs are read after the frame, so no stage comes after their last use.
    if (!tensor.output()) {
      i.after = p.reach[tensor.producer];
      for (const std::size_t reader : tensor.consumers) i.after &= p.reach[reader];
    }
    (device ? on_devices[tensor.device] : on_cpu).push_back(std::move(i));
  }
  for (std::size_t s = 0; s < scratch.size(); ++s) {
    if (scratch[s] == 0) continue;
    on_devices[p.stages[s].device].push_back(
        {aligned_bytes(scratch[s]), s, p.reach[s], &result.scratch_offset[s]});
  }
  for (const auto& on_device : on_devices) {
    result.device_blocks.push_back(place_block(on_device));
    result.device_bytes += result.device_blocks.back();
    result.device_blocks_without_reuse.push_back(sum_of_bytes(on_device));
    result.device_bytes_without_reuse += result.device_blocks_without_reuse.back();
  }
  result.pinned_bytes = place_block(on_cpu);
  result.pinned_bytes_without_reuse = sum_of_bytes(on_cpu);
  for (std::size_t t = 0; p.run.guard && t < p.tensors.size(); ++t) {
    const planned_tensor& tensor = p.tensors[t];
    if (!tensor.input && tensor.on == side::cpu) result.tensor_offset[t] += guard_bytes;
  }
  return result;
}

std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) noexcept {
  return a > most - b ? most : a + b;
}

std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b) noexcept {
  return b != 0 && a > most / b ? most : a * b;
}

memory_part sum_of(const memory_part& a, const memory_part& b) noexcept {
  return {saturating_add(a.slot, b.slot), saturating_add(a.slots, b.slots),
          saturating_add(a.inputs, b.inputs), saturating_add(a.weights, b.weights)};
}

std::uint64_t memory_part::total() const noexcept {
  return saturating_add(slots, saturating_add(inputs, weights));
}

memory_need need_of(const plan& p, const placement& placed) {
  memory_need need;
  const auto in_flight = static_cast<std::uint64_t>(std::max<std::int64_t>(p.run.in_flight, 1));
  need.host.slot = placed.pinned_bytes;
  need.host.slots = saturating_multiply(need.host.slot, in_flight);
  for (const std::size_t bytes : placed.device_blocks) {
    need.devices.push_back({.slot = bytes, .slots = saturating_multiply(bytes, in_flight)});
  }
  for (const planned_tensor& tensor : p.tensors) {
    if (!tensor.input) continue;
    memory_part& part = tensor.on == side::device ? need.devices[tensor.device] : need.host;
    part.inputs = saturating_add(part.inputs, tensor.type.bytes());
  }
  for (const planned_stage& stage : p.stages) {
    memory_part& part = stage.on == side::device ? need.devices[stage.device] : need.host;
    part.weights = saturating_add(part.weights, weight_bytes(stage));
  }
  for (const memory_part& part : need.devices) need.device = sum_of(need.device, part);
  return need;
}

std::uint64_t record_bytes(const plan& p, const plan_target& target) {
  const bool reports_busy_time = target.backend == "host";
  const kept_columns kept =
      columns_of(p.run.timing, p.schedule.properties.one_launch, reports_busy_time);
  const auto bytes = [](bool of, std::size_t each) { return std::uint64_t{of ? each : 0}; };
  constexpr std::size_t pair = sizeof(stamp_pair);
  const std::uint64_t device_stage =
      bytes(kept.enqueued, pair) + bytes(kept.device, pair) + bytes(kept.synced, pair) +
      bytes(kept.busy, sizeof(nanoseconds)) + bytes(kept.launcher(), sizeof(std::uint32_t));
  const std::uint64_t cpu_stage = bytes(kept.cpu, pair + sizeof(std::uint32_t));
  std::uint64_t frame =
      sizeof(frame_record) + bytes(kept.launches, pair) + bytes(kept.causes, sizeof(std::uint32_t));
  for (const planned_stage& stage : p.stages) {
    frame += stage.on == side::device ? device_stage : cpu_stage;
    frame += bytes(kept.causes, sizeof(std::int32_t));
    frame += bytes(stage.decided_per_frame(), sizeof(std::int32_t));
    frame += bytes(kept.causes && stage.host_waits, sizeof(nanoseconds));
  }
  return saturating_multiply(frame, static_cast<std::uint64_t>(p.run.frames));
}

std::uint64_t record_and_report_bytes(const plan& p, const plan_target& target) {
  return saturating_multiply(record_bytes(p, target), record_and_reports);
}

}  // namespace graphline

namespace graphline::planning {
namespace {

/// Address space of a process (47 bits on x86-64). Limits each tensor, so that sums over all
/// tensors do not overflow.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 47;

/// Size of the device's or the host's memory, and its owner for messages.
struct memory_limit {
  std::uint64_t bytes = 0;  ///< 0: unknown
  std::string owner;        ///< "the device", "the host"
};

/// Returns true on `host`, where both sides use the host's memory.
bool shared_memory(const plan_target& target) {
  return target.backend == "host";
}

memory_limit device_limit(const draft& d, std::size_t device) {
  const plan_target& target = d.machines[device];
  if (!shared_memory(target)) {
    const bool only = d.devices.size() == 1;
    return {target.device_memory_bytes,
            only ? "the device" : fmt::format("device '{}'", d.devices[device].name)};
  }
  const std::uint64_t a = target.device_memory_bytes;
  const std::uint64_t b = target.host_memory_bytes;
  return {a == 0 || b == 0 ? std::max(a, b) : std::min(a, b), "the host"};
}

memory_limit host_limit(const draft& d) {
  for (std::size_t device = 0; device < d.machines.size(); ++device) {
    if (shared_memory(d.machines[device])) return device_limit(d, device);
  }
  return {d.target.host_memory_bytes, "the host"};
}

void check_part(const draft& d, const plan& p, const memory_part& part, std::string_view kind,
                const memory_limit& limit) {
  if (limit.bytes == 0 || part.total() <= limit.bytes) return;
  const std::string frames =
      p.run.in_flight > 1
          ? fmt::format("{} frames in flight of {} each", p.run.in_flight, format_bytes(part.slot))
          : fmt::format("{} per frame", format_bytes(part.slot));
  d.out.error(
      d.spec.name.place,
      fmt::format("pipeline '{}' needs {} of {} memory ({}, {} of inputs, {} of weights), "
                  "but {} has {}; {}make shapes or the batch smaller",
                  d.spec.name.text, format_bytes(part.total()), kind, frames,
                  format_bytes(part.inputs), format_bytes(part.weights), limit.owner,
                  format_bytes(limit.bytes), p.run.in_flight > 1 ? "lower in_flight, or " : ""));
}

/// Checks that the record fits beside the `besides` bytes of host memory used otherwise. Does not
/// check if `max_time` may end the run.
void check_record(const draft& d, const plan& p, std::uint64_t besides, const memory_limit& limit) {
  if (limit.bytes == 0 || p.run.max_time || besides > limit.bytes) return;
  const std::uint64_t record = record_and_report_bytes(p, d.target);
  if (record <= limit.bytes - besides) return;
  const auto given = d.spec.run_places.each.find("frames");
  d.out.error(given == d.spec.run_places.each.end() ? d.spec.name.place : given->second,
              fmt::format("the record and reports of {} frames take up to {} of host memory, "
                          "beside {} of tensors and weights, but {} has {}; measure fewer frames, "
                          "{}or set max_time",
                          p.run.frames, format_bytes(record), format_bytes(besides), limit.owner,
                          format_bytes(limit.bytes),
                          p.run.timing == timing_method::none ? "" : "use timing: none, "));
}

}  // namespace

bool check_size(const draft& d, const draft_tensor& tensor, const tensor_type& type) {
  const auto& extents = type.shape.extents();
  if (std::any_of(extents.begin(), extents.end(), [](std::int64_t e) { return e < 1; })) {
    d.out.error(tensor.where, fmt::format("tensor '{}' is {}, but every extent must be at least 1",
                                          tensor.name, to_string(type)));
    return false;
  }
  const auto elements = type.shape.checked_elements();
  if (!elements || static_cast<std::uint64_t>(*elements) > most_bytes / size_of(type.element)) {
    d.out.error(tensor.where,
                fmt::format("tensor '{}' is {}, which is more than the {} a process can address; "
                            "make it smaller",
                            tensor.name, to_string(type), format_bytes(most_bytes)));
    return false;
  }
  const memory_limit limit =
      tensor.on == side::device ? device_limit(d, tensor.device) : host_limit(d);
  if (limit.bytes == 0 || type.bytes() <= limit.bytes) return true;
  d.out.error(tensor.where,
              fmt::format("tensor '{}' is {} and takes {}, but {} has {} of memory; make its "
                          "shape or the batch smaller",
                          tensor.name, to_string(type), format_bytes(type.bytes()), limit.owner,
                          format_bytes(limit.bytes)));
  return false;
}

void check_memory(const draft& d, const plan& p) {
  const memory_need need = need_of(p, place_buffers(p, {}));
  memory_part host = need.host;
  for (std::size_t device = 0; device < d.machines.size(); ++device) {
    if (shared_memory(d.machines[device])) {
      host = sum_of(host, need.devices[device]);
    } else {
      check_part(d, p, need.devices[device], "device", device_limit(d, device));
    }
  }
  check_part(d, p, host, "host", host_limit(d));
  check_record(d, p, host.total(), host_limit(d));
}

}  // namespace graphline::planning
