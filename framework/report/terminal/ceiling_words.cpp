#include "framework/report/terminal/ceiling_words.hpp"

#include "framework/base/units.hpp"

namespace graphline {

std::string in_units(double value, ceiling_unit unit) {
  if (unit == ceiling_unit::duration) return format_duration(value);
  return format_count(value, unit == ceiling_unit::rate ? "FLOP/s" : "B/s");
}

}  // namespace graphline
