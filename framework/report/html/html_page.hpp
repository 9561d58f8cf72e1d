#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace graphline {

/// What a page begins with, whatever it shows.
inline constexpr std::string_view html_beginning = "<!doctype html>\n";

/// A page is no larger, however many frames a run has, with but a few of its own choice.
inline constexpr std::uint64_t largest_page_bytes = 5'000'000;

/// The element "html" up to the end of its head: nothing is taken from elsewhere.
std::string page_head(std::string_view title, std::string_view style);

}  // namespace graphline
