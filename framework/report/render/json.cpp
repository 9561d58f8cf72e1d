#include "framework/report/json/common_json.hpp"
#include "framework/report/json/record_json.hpp"
#include "framework/report/render/cells.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/sentences.hpp"

namespace graphline::report {

namespace {

using json = nlohmann::ordered_json;

json number_of(const quantity& of) {
  return is_whole(of) ? json(static_cast<std::int64_t>(of.value)) : json(of.value);
}

json json_of(const quantity& of) {
  return of.in == unit::duration ? json(milliseconds(of.value)) : number_of(of);
}

json json_of(const cell& of) {
  struct {
    json operator()(std::monostate) const { return {}; }
    json operator()(bool yes) const { return yes; }
    json operator()(const std::string& text) const { return text; }
    json operator()(const quantity& number) const { return json_of(number); }
    json operator()(const estimate& some) const { return json_of(some.value); }
    json operator()(const span_of& some) const {
      json ends = json::array();
      for (const auto& end : {some.low, some.high}) {
        ends.push_back(end ? json_of(quantity{*end, some.in}) : json());
      }
      return ends;
    }
    json operator()(const judgment& some) const { return some.word; }
    json operator()(const sampled& some) const {
      const auto times = some.of ? std::optional(*some.of) : std::nullopt;
      auto made = distribution_json(times);
      for (const auto& [p, low, high] : some.intervals) {
        made["intervals"][percentile_name(p)] = {{"low", ms_or_null(low)},
                                                 {"high", ms_or_null(high)}};
      }
      return made;
    }
    json operator()(const std::vector<std::string>& list) const { return list; }
    json operator()(const std::vector<named_value>& list) const {
      json nested = json::object();
      for (const auto& one : list) nested[one.key] = json_of(cell(one));
      return nested;
    }
    json operator()(const whole_numbers& list) const { return list; }
  } made;
  return std::visit(made, of.value);
}

/// Adds "unit": "ms" if `is_time` is true and `to` has no unit yet.
void add_time_unit(json& to, bool is_time) {
  if (is_time && !to.contains("unit")) to["unit"] = "ms";
}

/// Returns facts as an object. The interval of the estimate "value" has the key "interval"; that of
/// "NAME" has the key "NAME_interval". Times are in nanoseconds if the key ends with "_ns".
json json_of(const std::vector<fact>& list) {
  json made = json::object();
  for (const auto& one : list) {
    const auto number = one.value.number();
    const bool in_ns = number && one.key.ends_with("_ns");
    add_time_unit(made, number && number->in == unit::duration && !in_ns);
    made[one.key] = in_ns ? json(static_cast<std::int64_t>(number->value)) : json_of(one.value);
    const auto* some = std::get_if<estimate>(&one.value.value);
    if (some == nullptr) continue;
    made[one.key == "value" ? "interval" : one.key + "_interval"] =
        json_of(cell(span_of{some->low, some->high, some->value.in}));
  }
  return made;
}

json json_of(const row& of, const table& in, bool only_numbers = false) {
  json made = json::object();
  for (std::size_t c = 0; c < in.columns.size(); ++c) {
    if ((in.columns[c].where & in_data) == 0 || (only_numbers && !in.columns[c].in)) continue;
    if (in.columns[c].optional && !of.cells[c].known()) continue;
    add_time_unit(made, in.columns[c].in == unit::duration);
    // Converts only columns of times to ms.
    const auto* number = std::get_if<quantity>(&of.cells[c].value);
    const bool raw = number != nullptr && in.columns[c].in != unit::duration;
    made[in.columns[c].key] = raw ? number_of(*number) : json_of(of.cells[c]);
  }
  return made;
}

/// Returns the rows as a list. Each row of level 0 contains a list of its rows of level 1.
json json_of(const table& of) {
  const auto parts = of.part_key + 's';
  json rows = json::array();
  for (const auto& row : of.rows) {
    if ((row.where & in_data) == 0) continue;
    if (row.level > 0) {
      rows.back()[parts].push_back(json_of(row, of));
      continue;
    }
    rows.push_back(json_of(row, of));
    if (!of.part_key.empty()) rows.back()[parts] = json::array();
  }
  return rows;
}

json json_of(const finding_item& of) {
  const auto* amount = of.amount.in == unit::duration ? "ms" : "amount";
  return {{"what", of.what},
          {"subject", of.subject},
          {amount, json_of(of.amount)},
          {"part", or_null(of.part)}};
}

json json_of(const finding& of) {
  json figures = json::object();
  for (const auto& [key, value] : of.figures) {
    const std::string name(key);
    if (const auto* number = std::get_if<quantity>(&value)) {
      figures[number->in == unit::duration ? name + "_ms" : name] = json_of(*number);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      figures[name] = *text;
    } else if (const auto* items = std::get_if<finding_items>(&value)) {
      figures[name] = json::array();
      for (const auto& item : *items) figures[name].push_back(json_of(item));
    } else {
      figures[name] = std::get<std::vector<std::string>>(value);
    }
  }
  json made = {{"key", of.key},
               {"severity", to_word(of.how)},
               {"subjects", of.subjects},
               {"figures", std::move(figures)},
               {"text", sentence(of)}};
  for (const auto& one : of.cases) made["cases"].push_back(json_of(one));
  return made;
}

void add_part(json& to, const facts& of) {
  if ((of.where & in_data) == 0) return;
  auto made = json_of(of.list);
  if (of.key.empty()) {
    to.update(made);
  } else {
    to[of.key] = std::move(made);
  }
}

void add_part(json& to, const table& of) {
  if ((of.where & in_data) == 0) return;
  to[of.key] = json_of(of);
  if (of.total) to["total"] = json_of(*of.total, of, true);
}

}  // namespace

void write_json(text_sink& to, const document& of, std::optional<record_view> record) {
  json made = {{"schema", "graphline." + of.kind + "/1"}};
  if (!of.title_key.empty()) {
    made[of.title_key] = of.title;
    made["description"] = of.description;
  }
  for (const auto& part : of.parts) {
    if (const auto* some = std::get_if<facts>(&part)) add_part(made, *some);
  }
  for (const auto& part : of.parts) {
    if (const auto* some = std::get_if<table>(&part)) add_part(made, *some);
  }
  json findings = json::array();
  json warnings = json::array();
  for (const auto& found : of.findings) {
    if (!found.key.empty()) findings.push_back(json_of(found));
    if (found.how == finding_severity::warning) warnings.push_back(sentence(found));
  }
  made["warnings"] = std::move(warnings);
  made["findings"] = std::move(findings);
  if (record) made["record"] = record_json(*record);
  graphline::write_json(to, made);
}

}  // namespace graphline::report
