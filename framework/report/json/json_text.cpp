#include "framework/report/json/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "framework/base/json_reader.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

std::string in_one_line(const json& v) {
  if (!v.is_number_float()) return v.dump(-1, ' ', false, json::error_handler_t::replace);
  const double number = v.get<double>();
  return std::isfinite(number) ? fmt::to_string(number) : "null";
}

void write_value(text_sink& to, const json& v, const std::string& indent, const last_entry* last);

void write_plain_list(text_sink& to, const json& v) {
  to.append("[");
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (i > 0) to.append(", ");
    to.append(in_one_line(v[i]));
  }
  to.append("]");
}

/// One entry a line; `last`: one more at the end.
void write_entries(text_sink& to, const json& v, const std::string& indent,
                   const last_entry* last) {
  const auto within = indent + "  ";
  auto before = "\n" + within;
  to.append(v.is_object() ? "{" : "[");
  for (auto item = v.begin(); item != v.end(); ++item) {
    to.append(before);
    if (v.is_object()) to.append(in_one_line(item.key())).append(": ");
    write_value(to, *item, within, nullptr);
    before = ",\n" + within;
  }
  if (last != nullptr) {
    to.append(before).append(in_one_line(std::string(last->key))).append(": ");
    last->write(to);
  }
  if (!v.empty() || last != nullptr) to.append("\n").append(indent);
  to.append(v.is_object() ? "}" : "]");
}

void write_value(text_sink& to, const json& v, const std::string& indent, const last_entry* last) {
  const auto is_plain = [](const json& item) { return item.is_primitive(); };
  if (v.is_primitive()) {
    to.append(in_one_line(v));
  } else if (v.is_array() && std::all_of(v.begin(), v.end(), is_plain)) {
    write_plain_list(to, v);
  } else {
    write_entries(to, v, indent, last);
  }
}

}  // namespace

void write_json(text_sink& to, const json& value, const last_entry* last) {
  write_value(to, value, "", last);
  to.append("\n");
}

std::string json_text(const json& value) {
  return text_by([](text_sink& to, const json& v) { write_json(to, v); }, value);
}

double milliseconds(nanoseconds ns) {
  return static_cast<double>(ns) / 1e6;
}

double milliseconds(double ns) {
  return std::round(ns * 1e3) / 1e9;
}

json typed(const std::string& text) {
  auto value = find_json(text);
  if (value && (value->is_number() || value->is_boolean())) return *std::move(value);
  return text;
}

}  // namespace graphline
