#include "tests/report/render/fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include "framework/report/render/text_table.hpp"

namespace graphline::samples {
namespace {

std::string without_escapes(const std::string& text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size();) {
    const auto escape = escape_at(std::string_view(text).substr(at));
    if (escape == 0) plain += text[at];
    at += std::max<std::size_t>(1, escape);
  }
  return plain;
}

}  // namespace

void expect_to_fit(const std::string& what, std::size_t width,
                   const std::function<std::string(const terminal_style&)>& text_of) {
  const std::string text = text_of({.width = width});
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(text_width(line), width) << what << '\n' << line;
    EXPECT_FALSE(line.ends_with(' ')) << what << '\n' << line;
  }
  const std::string colored = text_of({.colors = true, .width = width});
  EXPECT_NE(colored, text) << what;
  EXPECT_EQ(without_escapes(colored), text) << what;
}

}  // namespace graphline::samples
