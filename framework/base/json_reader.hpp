#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace graphline {

/// How many lists and objects may stand within each other: many more than in any file that is read,
/// and few enough for whatever goes through a value by calling itself.
constexpr std::size_t max_json_depth = 64;

/// A text that is not JSON, or holds more than is read. `what()` says why, without the place.
class json_error : public std::runtime_error {
 public:
  json_error(std::size_t byte, const std::string& why) : std::runtime_error(why), byte_(byte) {}

  /// That of the last byte read, from 1.
  std::size_t byte() const noexcept { return byte_; }

 private:
  std::size_t byte_;
};

/// Reads JSON that may come from anywhere, in time that grows with its size and in memory of at
/// most 10 times its size and 32 MiB: every file of JSON is read by this. Of equal keys of an
/// object `find` answers the first, and all are kept. Throws `json_error`.
nlohmann::ordered_json read_json(std::string_view text);

/// The same; nothing where `read_json` throws `json_error`.
std::optional<nlohmann::ordered_json> find_json(std::string_view text);

}  // namespace graphline
