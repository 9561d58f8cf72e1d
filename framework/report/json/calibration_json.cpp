#include "framework/report/json/calibration_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "framework/analysis/roofline/ceilings.hpp"
#include "framework/report/json/record_json.hpp"

namespace graphline {

namespace {

ceiling_record ceiling_from(const json_part& from) {
  ceiling_record record;
  record.what = from.at("what").word<ceiling>();
  if (const auto arithmetic = from.find("precision")) {
    record.arithmetic = arithmetic->word<precision>();
  }
  record.how = from.at("how").text();
  const auto amount = from.at("amount");
  record.amount = amount.number();
  if (!(record.amount > 0)) amount.fail("a number above 0");
  const auto times = from.at("times_ns");
  record.times = times.wholes<nanoseconds>();
  for (std::size_t i = 0; i < record.times.size(); ++i) {
    if (record.times[i] <= 0) times.items()[i].fail("a time above 0");
  }
  // What results keep of it must be what they can hold.
  for (const auto& figure : figures_of({{}, {}, {record}, {}, false})) {
    for (const double value : {figure.value, figure.worst, figure.best}) {
      if (is_ceiling_value(value)) continue;
      times.fail(fmt::format("a list of times that make a ceiling ({} gave {:g} {})",
                             amount.where(), value, unit_name(unit_of(record.what))));
    }
  }
  return record;
}

}  // namespace

std::string_view unit_name(ceiling_unit unit) noexcept {
  if (unit == ceiling_unit::duration) return "ns";
  return unit == ceiling_unit::rate ? "FLOP/s" : "B/s";
}

calibration_record calibration_record_from(const json_part& from) {
  calibration_record record;
  record.device = device_from(from.at("device"));
  record.environment = from.at("environment").pairs();
  from.at("environment").at("date");  // what is kept of it says when it was made
  for (const auto& measured : from.at("ceilings").items()) {
    record.ceilings.push_back(ceiling_from(measured));
  }
  for (const auto& warning : from.at("warnings").items()) record.warnings.push_back(warning.text());
  record.interrupted = from.at("interrupted").boolean();
  return record;
}

}  // namespace graphline
