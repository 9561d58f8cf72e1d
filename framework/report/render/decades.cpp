#include "framework/report/render/decades.hpp"

#include <fmt/format.h>

#include "framework/base/units.hpp"

namespace graphline {

std::string tick(int decade) {
  if (decade < -3 || decade >= 18) return fmt::format("1e{}", decade);
  const double value = std::pow(10.0, decade);
  auto text = decade < 0 ? fmt::format("{:.{}f}", value, -decade) : format_count(value, "");
  const auto point = text.find('.');
  if (decade >= 0 && point != text.npos) {  // 1.00 k
    text.erase(point, text.find(' ') - point);
  }
  return text;
}

}  // namespace graphline
