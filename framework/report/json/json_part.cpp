#include "framework/report/json/json_part.hpp"

#include <fmt/format.h>

#include <limits>

#include "framework/base/error.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

/// Returns the text of a value for a message, or its type if the text is long.
std::string shown(const json& value) {
  constexpr std::size_t most = 40;
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  const auto text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() <= most ? text
                             : fmt::format("a {} of {} bytes", value.type_name(), text.size());
}

}  // namespace

json_part json_part::at(std::string_view key) const {
  if (!value_->is_object()) fail("an object");
  const auto found = value_->find(std::string(key));
  if (found == value_->end()) throw missing_key(fmt::format("{} lacks '{}'", where_, key));
  return {*found, fmt::format("{}.{}", where_, key)};
}

std::optional<json_part> json_part::find(std::string_view key) const {
  if (!value_->is_object()) fail("an object");
  const auto found = value_->find(std::string(key));
  if (found == value_->end() || found->is_null()) return std::nullopt;
  return json_part(*found, fmt::format("{}.{}", where_, key));
}

std::vector<json_part> json_part::items() const {
  std::vector<json_part> result;
  result.reserve(list().size());
  for (const auto& item : list()) {
    result.emplace_back(item, fmt::format("{}[{}]", where_, result.size()));
  }
  return result;
}

const std::string& json_part::text() const {
  if (!value_->is_string()) fail("a text");
  return value_->get_ref<const std::string&>();
}

bool json_part::boolean() const {
  if (!value_->is_boolean()) fail("true or false");
  return value_->get<bool>();
}

double json_part::number() const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (value_->is_number()) return value_->get<double>();
  if (*value_ == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (*value_ == "inf") return infinity;
  if (*value_ == "-inf") return -infinity;
  fail("a number");
}

std::vector<std::pair<std::string, std::string>> json_part::pairs() const {
  std::vector<std::pair<std::string, std::string>> result;
  if (value_->is_object()) {
    for (const auto& [name, text] : value_->items()) result.emplace_back(name, at(name).text());
    return result;
  }
  for (const auto& item : items()) {
    const auto pair = item.items();
    if (pair.size() != 2) item.fail("a name and a text");
    result.emplace_back(pair[0].text(), pair[1].text());
  }
  return result;
}

void json_part::fail(std::string_view expected) const {
  throw input_error(
      fmt::format("{} is {}, where {} is expected", where_, shown(*value_), expected));
}

const json::array_t& json_part::list() const {
  if (!value_->is_array()) fail("a list");
  return value_->get_ref<const json::array_t&>();
}

}  // namespace graphline
