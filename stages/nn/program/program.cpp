#include "stages/nn/program/program.hpp"

#include <fmt/format.h>

#include <utility>

#include "framework/base/first_fit.hpp"
#include "framework/base/utf8.hpp"

namespace graphline::nn {

std::size_t program::add_buffer(buffer_place place, std::size_t bytes, std::size_t tensor) {
  buffers.push_back({place, bytes, tensor});
  return buffers.size() - 1;
}

std::size_t program::add_part_of(std::size_t whole, std::size_t offset, std::size_t bytes) {
  buffers.push_back({.bytes = bytes, .offset = offset, .within = whole});
  return buffers.size() - 1;
}

std::size_t program::add_checks(const std::string& layer, std::size_t axis,
                                const std::vector<std::int64_t>& extents) {
  const std::size_t first = checks.size();
  for (const std::int64_t extent : extents) checks.push_back({layer, axis++, extent});
  return add_buffer(buffer_place::check, extents.size() * sizeof(float), first);
}

std::string program::take_problem(std::span<float> numbers) const {
  std::string problem;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const float index = std::exchange(numbers[i], 0.0F);
    if (index == 0 || !problem.empty()) continue;
    const auto& [layer, axis, extent] = checks[i];
    problem =
        axis == 0
            ? fmt::format("{} reads row {:.9g} of a table of {} rows", quote(layer), index, extent)
            : fmt::format("{} reads index {:.9g} of dimension {}, which has {} elements",
                          quote(layer), index, axis, extent);
  }
  return problem;
}

void program::place_buffers(const std::vector<std::vector<std::size_t>>& uses) {
  struct lifetime {
    std::size_t first = 0;
    std::size_t last = 0;
  };
  std::vector<std::optional<lifetime>> lifetimes(buffers.size());  // of buffers in use
  for (std::size_t step = 0; step < uses.size(); ++step) {
    for (std::size_t buffer : uses[step]) {
      while (buffers[buffer].within) buffer = *buffers[buffer].within;
      if (!lifetimes[buffer]) lifetimes[buffer] = {step, step};
      lifetimes[buffer]->last = step;
    }
  }

  std::vector<std::size_t> scratch;  // buffers
  std::vector<std::size_t> bytes;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].place == buffer_place::weights) {
      buffers[i].offset = weights_bytes;
      weights_bytes += aligned_bytes(buffers[i].bytes);
    } else if (buffers[i].place == buffer_place::scratch && lifetimes[i]) {
      scratch.push_back(i);
      bytes.push_back(buffers[i].bytes);
    }
  }
  const block_layout layout = place_first_fit(bytes, [&](std::size_t a, std::size_t b) {
    const lifetime& one = *lifetimes[scratch[a]];
    const lifetime& other = *lifetimes[scratch[b]];
    return one.last < other.first || other.last < one.first;
  });
  for (std::size_t i = 0; i < scratch.size(); ++i) buffers[scratch[i]].offset = layout.offsets[i];
  scratch_bytes = layout.bytes;
}

std::vector<std::byte*> program::weights_in(std::byte* block) const {
  std::vector<std::byte*> addresses;
  for (const program_buffer& buffer : buffers) {
    const bool constant = buffer.place == buffer_place::weights;
    addresses.push_back(constant ? block + buffer.offset : nullptr);
  }
  return addresses;
}

std::byte* program::address_of(std::size_t buffer, const program_memory& memory) const {
  const program_buffer& of = buffers[buffer];
  if (of.within) return address_of(*of.within, memory) + of.offset;
  switch (of.place) {
    case buffer_place::input:
      return static_cast<std::byte*>(memory.inputs[of.tensor].data);
    case buffer_place::output:
      return static_cast<std::byte*>(memory.outputs[of.tensor].data);
    case buffer_place::weights:
      return memory.weights[buffer];
    case buffer_place::scratch:
      return memory.scratch + of.offset;
    case buffer_place::check:
      return reinterpret_cast<std::byte*>(memory.checks + of.tensor);
  }
  return nullptr;
}

}  // namespace graphline::nn
