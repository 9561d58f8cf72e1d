#include <fmt/format.h>

#include <algorithm>

#include "framework/base/units.hpp"
#include "framework/plan/draft.hpp"
#include "framework/plan/memory_need.hpp"

namespace graphline::planning {
namespace {

/// More than any process can address (47 bits on x86-64), so that sums over every tensor of a plan
/// stay far from running over.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 47;

/// One of the two memories, for messages.
struct memory_limit {
  std::uint64_t bytes = 0;  ///< 0: unknown
  std::string_view owner;   ///< "the device", "the host"
};

/// `host` computes in the host's memory, so both sides share it there.
bool shared_memory(const plan_target& target) {
  return target.backend == "host";
}

memory_limit limit_of(const plan_target& target, side s) {
  if (!shared_memory(target)) {
    return s == side::device ? memory_limit{target.device_memory_bytes, "the device"}
                             : memory_limit{target.host_memory_bytes, "the host"};
  }
  const std::uint64_t a = target.device_memory_bytes;
  const std::uint64_t b = target.host_memory_bytes;
  return {a == 0 || b == 0 ? std::max(a, b) : std::min(a, b), "the host"};
}

/// What takes memory in a plan, for messages.
struct taker {
  std::uint64_t bytes = 0;
  std::string name;
  place where;
};

place place_of(const draft& d, const std::string& tensor) {
  const auto found = d.tensor_named.find(tensor);
  return found == d.tensor_named.end() ? d.spec.name.place : d.tensors[found->second].where;
}

/// The largest tensor or weights on a side, or on both.
taker largest(const draft& d, const plan& p, bool device, bool host) {
  taker best;
  const auto on = [&](side s) { return s == side::device ? device : host; };
  const auto consider = [&](taker t) {
    if (t.bytes > best.bytes) best = std::move(t);
  };
  for (const planned_tensor& t : p.tensors) {
    if (on(t.on)) {
      consider({t.type.bytes(), fmt::format("tensor '{}'", t.name), place_of(d, t.name)});
    }
  }
  for (const planned_stage& s : p.stages) {
    if (!on(s.on)) continue;
    const auto spec = d.stage_named.find(s.name);
    consider({weight_bytes(s), fmt::format("the weights of stage '{}'", s.name),
              spec == d.stage_named.end() ? d.spec.name.place
                                          : d.stages[spec->second].spec->name.place});
  }
  return best;
}

void check_part(const draft& d, const plan& p, const memory_part& part, std::string_view kind,
                const memory_limit& limit, const taker& top) {
  if (limit.bytes == 0 || part.total() <= limit.bytes) return;
  const std::string frames =
      p.run.in_flight > 1
          ? fmt::format("{} frames in flight of {} each", p.run.in_flight, format_bytes(part.slot))
          : fmt::format("{} per frame", format_bytes(part.slot));
  d.out.error(
      top.where,
      fmt::format("pipeline '{}' needs {} of {} memory ({}, {} of inputs, {} of weights), but {} "
                  "has {}; the largest part is {} with {}; {}make shapes or the batch smaller",
                  d.spec.name.text, format_bytes(part.total()), kind, frames,
                  format_bytes(part.inputs), format_bytes(part.weights), limit.owner,
                  format_bytes(limit.bytes), top.name, format_bytes(top.bytes),
                  p.run.in_flight > 1 ? "lower in_flight, or " : ""));
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
  const memory_limit limit = limit_of(d.target, tensor.on);
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
  if (!shared_memory(d.target)) {
    check_part(d, p, need.device, "device", limit_of(d.target, side::device),
               largest(d, p, true, false));
    check_part(d, p, need.host, "host", limit_of(d.target, side::cpu), largest(d, p, false, true));
    return;
  }
  const memory_part both{saturating_add(need.device.slot, need.host.slot),
                         saturating_add(need.device.slots, need.host.slots),
                         saturating_add(need.device.inputs, need.host.inputs),
                         saturating_add(need.device.weights, need.host.weights)};
  check_part(d, p, both, "host", limit_of(d.target, side::device), largest(d, p, true, true));
}

}  // namespace graphline::planning
