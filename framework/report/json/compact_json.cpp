#include "framework/report/json/compact_json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace graphline {

namespace {

constexpr std::size_t most_kept = 1 << 14;

}  // namespace

compact_json& compact_json::open(char bracket) {
  separate();
  text_ += bracket;
  return *this;
}

compact_json& compact_json::close(char bracket) {
  text_ += bracket;
  return *this;
}

compact_json& compact_json::key(std::string_view name) {
  separate();
  text_.append(1, '"').append(name).append("\":");
  return *this;
}

compact_json& compact_json::value(std::string_view text) {
  return plain(nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

compact_json& compact_json::value(double number) {
  if (std::isnan(number)) return plain("\"nan\"");
  if (std::isinf(number)) return plain(number > 0 ? "\"inf\"" : "\"-inf\"");
  // As a whole number it would lose its sign.
  if (number == 0 && std::signbit(number)) return plain("-0.0");
  return plain(fmt::format("{}", number));
}

compact_json& compact_json::value(const std::vector<std::pair<std::string, std::string>>& texts) {
  open('[');
  for (const auto& [name, text] : texts) open('[').value(name).value(text).close(']');
  return close(']');
}

compact_json& compact_json::plain(std::string_view text) {
  separate();
  text_ += text;
  if (to_ != nullptr && text_.size() > most_kept) {
    to_->append(std::string_view(text_).substr(0, text_.size() - 1));
    text_.erase(0, text_.size() - 1);
  }
  return *this;
}

/// Nothing but a bracket or a key's colon stands before a value that needs no comma; a string that
/// ends in one of these is followed by its quote.
void compact_json::separate() {
  if (text_.empty()) return;
  const char last = text_.back();
  if (last != '{' && last != '[' && last != ':') text_ += ',';
}

}  // namespace graphline
