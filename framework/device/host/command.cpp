#include "framework/device/host/command.hpp"

#include "framework/base/units.hpp"
#include "framework/device/host/host_event.hpp"

namespace graphline {

std::string name_of(const command& c) {
  if (const auto* operate = std::get_if<operate_command>(&c)) {
    return std::string(operate->operation->name());
  }
  if (const auto* copy = std::get_if<copy_command>(&c)) {
    return "copy " + format_bytes(copy->bytes);
  }
  if (const auto* fill = std::get_if<fill_command>(&c)) {
    return "fill " + format_bytes(fill->bytes);
  }
  if (const auto* call = std::get_if<call_command>(&c)) return std::string(call->function->name());
  if (const auto* stamp = std::get_if<stamp_command>(&c)) return stamp->stamped->name();
  return "";  // not a node
}

}  // namespace graphline
