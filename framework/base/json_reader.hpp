#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace graphline {

/// Maximum nesting of lists and objects. Bounds the depth of recursive functions over a value.
constexpr std::size_t max_json_depth = 64;

/// Thrown for invalid JSON, or JSON beyond the limits of `read_json`. `what()` is the reason
/// without the place.
class json_error : public std::runtime_error {
 public:
  json_error(std::size_t byte, const std::string& why) : std::runtime_error(why), byte_(byte) {}

  /// Returns the position of the last byte read, counted from 1; 1 if a limit is exceeded.
  std::size_t byte() const noexcept { return byte_; }

 private:
  std::size_t byte_;
};

/// Parses untrusted JSON in linear time. Uses at most 10 times the size of the text plus 32 MiB of
/// memory. Duplicate keys are kept; `find` returns the first.
/// @throws json_error
nlohmann::ordered_json read_json(std::string_view text);

/// Same as `read_json`, but returns empty on invalid JSON.
std::optional<nlohmann::ordered_json> find_json(std::string_view text);

}  // namespace graphline
