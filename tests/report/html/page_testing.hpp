#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace graphline::samples {

/// What a page's scripts get to draw. Fails the test where the page holds no such JSON.
nlohmann::ordered_json data_of(const std::string& page);

/// How often `part` stands in `text`.
std::size_t times_in(std::string_view text, std::string_view part);

}  // namespace graphline::samples
