#include "framework/report/html/html_page.hpp"

#include <fmt/format.h>

#include "framework/base/utf8.hpp"

namespace graphline {

namespace {

/// Text as text in HTML.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '<') {
      result += "&lt;";
    } else if (c == '&') {
      result += "&amp;";
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace

std::string page_head(std::string_view title, std::string_view style) {
  return fmt::format(
      "<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>\n{}</style>\n</head>\n",
      escaped(printable(title)), style);
}

}  // namespace graphline
