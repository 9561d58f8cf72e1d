#include "framework/report/trace/trace_text.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>

namespace graphline {

trace_text& trace_text::microseconds(nanoseconds ns) {
  const bool negative = ns < 0;
  const auto bits = static_cast<std::uint64_t>(ns);
  const std::uint64_t size = negative ? 0 - bits : bits;
  if (negative) plain("-");
  number(size / 1000);
  const auto rest = static_cast<unsigned>(size % 1000);
  const auto digit = [](unsigned value) { return static_cast<char>('0' + value); };
  const char decimals[] = {'.', digit(rest / 100), digit(rest / 10 % 10), digit(rest % 10)};
  return plain({decimals, sizeof decimals});
}

std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace graphline
