#include "tests/report/html/page_testing.hpp"

#include <gtest/gtest.h>

namespace graphline::samples {

nlohmann::ordered_json data_of(const std::string& page) {
  constexpr std::string_view opening = "<script type=\"application/json\" id=\"data\">";
  const auto begin = page.find(opening);
  const auto end = page.find("</script>", begin);
  if (begin == page.npos || end == page.npos) {
    ADD_FAILURE() << "the page holds no data";
    return {};
  }
  const auto from = begin + opening.size();
  return nlohmann::ordered_json::parse(page.substr(from, end - from));
}

std::size_t times_in(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace graphline::samples
