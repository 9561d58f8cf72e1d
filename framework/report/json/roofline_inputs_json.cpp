#include "framework/report/json/roofline_inputs_json.hpp"

namespace graphline {

namespace {

/// A count of FLOPs or bytes, such that some hundred of them can be added up in 64 bits.
std::optional<std::int64_t> count_from(const json_part& from, const char* name) {
  constexpr std::int64_t most = std::int64_t{1} << 56;  // 72 PFLOP or PB
  const auto part = from.find(name);
  if (!part) return std::nullopt;
  const auto count = part->whole<std::int64_t>();
  if (count < 0 || count > most) part->fail("a number from 0 to 2^56");
  return count;
}

double value_from(const json_part& from) {
  const double value = from.number();
  if (!is_ceiling_value(value)) from.fail("a number from 0.001 to 10^18");
  return value;
}

ceiling_figure ceiling_from(const json_part& from) {
  ceiling_figure figure;
  figure.what = from.at("what").word<ceiling>();
  if (const auto arithmetic = from.find("precision")) {
    figure.arithmetic = arithmetic->word<precision>();
  }
  figure.value = value_from(from.at("value"));
  figure.worst = value_from(from.at("worst"));
  figure.best = value_from(from.at("best"));
  return figure;
}

}  // namespace

void write_cost(compact_json& to, const cost_record& cost) {
  to.open('{').member("flops", cost.flops).member("bytes_read", cost.bytes_read);
  to.member("bytes_written", cost.bytes_written);
  to.member("precision", to_word(cost.arithmetic)).close('}');
}

cost_record cost_from(const json_part& from) {
  cost_record cost;
  cost.flops = count_from(from, "flops");
  cost.bytes_read = count_from(from, "bytes_read");
  cost.bytes_written = count_from(from, "bytes_written");
  cost.arithmetic = from.at("precision").word<precision>();
  return cost;
}

bool is_ceiling_value(double value) noexcept {
  return value >= 1e-3 && value <= 1e18;
}

void write_calibration(compact_json& to, const calibration& kept) {
  to.open('{').member("date", kept.date).key("ceilings").open('[');
  for (const auto& figure : kept.ceilings) {
    to.open('{').member("what", to_word(figure.what));
    // Of what computes nothing it says nothing.
    if (unit_of(figure.what) == ceiling_unit::rate) {
      to.member("precision", to_word(figure.arithmetic));
    }
    to.member("value", figure.value).member("worst", figure.worst);
    to.member("best", figure.best).close('}');
  }
  to.close(']').member("stale", kept.stale).close('}');
}

calibration calibration_from(const json_part& from) {
  calibration kept;
  kept.date = from.at("date").text();
  for (const auto& figure : from.at("ceilings").items()) {
    kept.ceilings.push_back(ceiling_from(figure));
  }
  for (const auto& reason : from.at("stale").items()) kept.stale.push_back(reason.text());
  return kept;
}

}  // namespace graphline
