#include "framework/report/json/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "framework/base/json_reader.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

class printer {
 public:
  void value(const json& v) {
    if (v.is_object()) {
      entries(v, '{', '}');
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

  std::string take() { return std::move(text_); }

 private:
  void entries(const json& v, char open, char close) {
    text_ += open;
    ++depth_;
    bool first = true;
    for (auto item = v.begin(); item != v.end(); ++item) {
      text_ += first ? "\n" : ",\n";
      first = false;
      text_.append(2 * depth_, ' ');
      if (v.is_object()) {
        quoted(item.key());
        text_ += ": ";
      }
      value(*item);
    }
    --depth_;
    if (!first) {
      text_ += '\n';
      text_.append(2 * depth_, ' ');
    }
    text_ += close;
  }

  void line(const json& v) {
    text_ += '[';
    bool first = true;
    for (const auto& item : v) {
      if (!first) text_ += ", ";
      first = false;
      scalar(item);
    }
    text_ += ']';
  }

  void scalar(const json& v) {
    if (v.is_number_float()) {
      const double number = v.get<double>();
      if (std::isfinite(number)) {
        fmt::format_to(std::back_inserter(text_), "{}", number);
      } else {
        text_ += "null";
      }
    } else {
      text_ += v.dump(-1, ' ', false, json::error_handler_t::replace);
    }
  }

  void quoted(const std::string& key) {
    text_ += json(key).dump(-1, ' ', false, json::error_handler_t::replace);
  }

  std::string text_;
  std::size_t depth_ = 0;
};

}  // namespace

std::string json_text(const json& value) {
  printer p;
  p.value(value);
  return p.take() + "\n";
}

std::string with_last_entry(std::string object, std::string_view key, std::string_view value) {
  constexpr std::string_view end = "\n}\n";
  object.resize(object.size() - end.size());
  return object += fmt::format(",\n  \"{}\": {}{}", key, value, end);
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
