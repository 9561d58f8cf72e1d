#include "framework/report/json/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "framework/base/json_reader.hpp"
#include "framework/base/utf8.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

std::string in_one_line(const json& v) {
  if (v.is_number_unsigned()) return fmt::to_string(v.get<std::uint64_t>());
  if (v.is_number_integer()) return fmt::to_string(v.get<std::int64_t>());
  if (!v.is_number_float()) return json_in_one_line(v);
  const double number = v.get<double>();
  return std::isfinite(number) ? fmt::to_string(number) : "null";
}

void write_value(text_sink& to, const json& v, const std::string& indent);

/// Writes one entry per line, or all entries on one line if `plain`.
void write_entries(text_sink& to, const json& v, const std::string& indent, bool plain) {
  const auto within = indent + "  ";
  const auto line = plain ? "" : "\n" + within;
  const auto next = plain ? ", " : "," + line;
  to.append(v.is_object() ? "{" : "[");
  for (auto item = v.begin(); item != v.end(); ++item) {
    to.append(item == v.begin() ? line : next);
    if (v.is_object()) to.append(in_one_line(item.key())).append(": ");
    write_value(to, *item, within);
  }
  if (!v.empty() && !plain) to.append("\n").append(indent);
  to.append(v.is_object() ? "}" : "]");
}

void write_value(text_sink& to, const json& v, const std::string& indent) {
  const auto is_plain = [](const json& item) { return item.is_primitive(); };
  if (v.is_primitive()) {
    to.append(in_one_line(v));
  } else {
    write_entries(to, v, indent, v.is_array() && std::all_of(v.begin(), v.end(), is_plain));
  }
}

}  // namespace

std::string json_in_one_line(const json& value) {
  auto text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (std::ranges::all_of(text, [](char c) { return c >= ' ' && c < '\x7f'; })) return text;
  std::string escaped;
  for (std::size_t at = 0; at < text.size();) {
    const auto [code, bytes] = utf8_at(text, at);
    if (code && is_control(*code)) {  // all are at most U+FFFF, so one escape is enough
      escaped += fmt::format("\\u{:04x}", static_cast<unsigned>(*code));
    } else {
      escaped.append(text, at, bytes);
    }
    at += bytes;
  }
  return escaped;
}

void write_json(text_sink& to, const json& value) {
  write_value(to, value, "");
  to.append("\n");
}

std::string json_line(const json& value) {
  return json_in_one_line(value) + '\n';
}

std::string json_text(const json& value) {
  return text_by(write_json, value);
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
