#include <fmt/format.h>

#include <algorithm>

#include "framework/base/utf8.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/sentences.hpp"

namespace graphline::report {

namespace {

/// Escapes text for XML 1.0, also in attributes. Control characters become "?".
std::string xml_text(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    if (std::string_view("<>&\"'").find(c) != std::string_view::npos) {
      result += fmt::format("&#{};", static_cast<int>(c));
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace

std::string as_junit(const gate_suite& of) {
  const auto failures = std::ranges::count_if(
      of.results, [](const gate_result& one) { return one.outcome != gate_outcome::passed; });
  const auto suite = xml_text(of.name);
  auto text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"{}\" tests=\"{}\" "
      "failures=\"{}\" errors=\"0\">\n",
      suite, of.results.size(), failures);
  text += "  <properties>\n";
  for (const auto& [name, value] : of.properties) {
    text +=
        fmt::format("    <property name=\"{}\" value=\"{}\"/>\n", xml_text(name), xml_text(value));
  }
  text += "  </properties>\n";
  for (const auto& one : of.results) {
    const auto passed = one.outcome == gate_outcome::passed;
    text += fmt::format("  <testcase classname=\"{}\" name=\"{}\">\n    ", suite,
                        xml_text(one.condition.text));
    text += passed ? fmt::format("<system-out>{}</system-out>\n", xml_text(sentence(one)))
                   : fmt::format("<failure type=\"{}\" message=\"{}\"/>\n",
                                 xml_text(to_word(one.outcome)), xml_text(sentence(one)));
    text += "  </testcase>\n";
  }
  return text + "</testsuite>\n";
}

}  // namespace graphline::report
