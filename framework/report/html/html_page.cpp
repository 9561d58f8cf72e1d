#include "framework/report/html/html_page.hpp"

#include <fmt/format.h>

#include "framework/base/utf8.hpp"
#include "framework/report/html/page_parts.hpp"
#include "framework/report/render/page_parts.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

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

/// JSON within a script element, which ends at the first "</script" whatever stands around it.
std::string script_text(const json& data) {
  std::string text = data.dump(-1, ' ', false, json::error_handler_t::replace);
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      result += "\\u003c";
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

std::string html_page(std::string_view title, const json& data) {
  std::string page(html_beginning);
  page += page_head(title, page_style);
  page +=
      "<body>\n<header></header>\n<nav aria-label=\"Sections\"><ul></ul></nav>\n<main></main>\n"
      "<footer></footer>\n"
      "<noscript><p>This page draws its figures with a script, and scripts are off. The same "
      "result as text: graphline report RESULT.json</p></noscript>\n";
  page +=
      fmt::format("<script type=\"application/json\" id=\"data\">{}</script>\n", script_text(data));
  page += fmt::format("<script>{}</script>\n<script>{}</script>\n</body>\n</html>\n", chart_library,
                      page_script);
  return page;
}

}  // namespace graphline
