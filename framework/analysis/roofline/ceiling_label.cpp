#include "framework/analysis/roofline/ceiling_label.hpp"

#include <fmt/format.h>

#include <string_view>

namespace graphline {

namespace {

std::string_view words_for(ceiling what) {
  switch (what) {
    case ceiling::read:
      return "memory, read";
    case ceiling::write:
      return "memory, written";
    case ceiling::copy:
      return "memory, copied";
    case ceiling::host_to_device_pinned:
      return "host to device, pinned";
    case ceiling::device_to_host_pinned:
      return "device to host, pinned";
    case ceiling::host_to_device_pageable:
      return "host to device, pageable";
    case ceiling::device_to_host_pageable:
      return "device to host, pageable";
    case ceiling::convolution:
      return "convolution";
    case ceiling::matmul:
      return "matrix product";
    case ceiling::launch:
      return "launch a graph";
    case ceiling::event:
      return "record an event";
    case ceiling::synchronize:
      return "wait when idle";
    case ceiling::round_trip:
      return "launch and see the end";
  }
  return "?";
}

}  // namespace

std::string label_of(ceiling what, precision arithmetic) {
  const auto words = words_for(what);
  if (unit_of(what) != ceiling_unit::rate) return std::string(words);
  return fmt::format("{}, {}", words, to_word(arithmetic));
}

}  // namespace graphline
