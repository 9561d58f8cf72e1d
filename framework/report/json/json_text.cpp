#include "framework/report/json/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "framework/base/json_reader.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

class printer {
 public:
  explicit printer(text_sink& to) : to_(to) {}

  /// `last`: one more entry at the end of an object.
  void value(const json& v, const last_entry* last = nullptr) {
    if (v.is_object()) {
      entries(v, '{', '}', last);
    } else if (v.is_array()) {
      const bool plain =
          std::all_of(v.begin(), v.end(), [](const json& item) { return item.is_primitive(); });
      if (plain) {
        line(v);
      } else {
        entries(v, '[', ']');
      }
    } else {
      scalar(v);
    }
  }

 private:
  void entries(const json& v, char open, char close, const last_entry* last = nullptr) {
    put(open);
    ++depth_;
    bool first = true;
    const auto begin_entry = [&] {
      to_.append(first ? "\n" : ",\n");
      first = false;
      indent();
    };
    for (auto item = v.begin(); item != v.end(); ++item) {
      begin_entry();
      if (v.is_object()) begin_value(item.key());
      value(*item);
    }
    if (last != nullptr) {
      begin_entry();
      begin_value(std::string(last->key));
      last->write(to_);
    }
    --depth_;
    if (!first) {
      put('\n');
      indent();
    }
    put(close);
  }

  void line(const json& v) {
    put('[');
    bool first = true;
    for (const auto& item : v) {
      if (!first) to_.append(", ");
      first = false;
      scalar(item);
    }
    put(']');
  }

  void scalar(const json& v) {
    if (v.is_number_float()) {
      const double number = v.get<double>();
      if (std::isfinite(number)) {
        to_.append(fmt::to_string(number));
      } else {
        to_.append("null");
      }
    } else {
      to_.append(v.dump(-1, ' ', false, json::error_handler_t::replace));
    }
  }

  void begin_value(const std::string& key) {
    to_.append(json(key).dump(-1, ' ', false, json::error_handler_t::replace)).append(": ");
  }

  void indent() {
    for (std::size_t i = 0; i < depth_; ++i) to_.append("  ");
  }

  void put(char c) { to_.append({&c, 1}); }

  text_sink& to_;
  std::size_t depth_ = 0;
};

}  // namespace

void write_json(text_sink& to, const json& value, const last_entry* last) {
  printer(to).value(value, last);
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
