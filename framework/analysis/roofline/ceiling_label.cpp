#include "framework/analysis/roofline/ceiling_label.hpp"

#include <fmt/format.h>

#include <string_view>

namespace graphline {

namespace {

struct ceiling_words {
  std::string_view whole;
  std::string_view brief;  ///< where there is little room
};

ceiling_words words_for(ceiling what) {
  switch (what) {
    case ceiling::read:
      return {"memory, read", "read"};
    case ceiling::write:
      return {"memory, written", "written"};
    case ceiling::copy:
      return {"memory, copied", "copied"};
    case ceiling::host_to_device_pinned:
      return {"host to device, pinned", "to device, pinned"};
    case ceiling::device_to_host_pinned:
      return {"device to host, pinned", "to host, pinned"};
    case ceiling::host_to_device_pageable:
      return {"host to device, pageable", "to device, pageable"};
    case ceiling::device_to_host_pageable:
      return {"device to host, pageable", "to host, pageable"};
    case ceiling::convolution:
      return {"convolution", "conv"};
    case ceiling::matmul:
      return {"matrix product", "matmul"};
    case ceiling::launch:
      return {"launch a graph", "launch"};
    case ceiling::event:
      return {"record an event", "record an event"};
    case ceiling::synchronize:
      return {"wait when idle", "wait when idle"};
    case ceiling::round_trip:
      return {"launch and see the end", "until seen"};
  }
  return {"?", "?"};
}

}  // namespace

std::string label_of(ceiling what, precision arithmetic, bool brief) {
  const auto words = brief ? words_for(what).brief : words_for(what).whole;
  if (unit_of(what) != ceiling_unit::rate) return std::string(words);
  return fmt::format("{}, {}", words, to_word(arithmetic));
}

}  // namespace graphline
