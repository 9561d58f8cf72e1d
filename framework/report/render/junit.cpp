#include <fmt/format.h>

#include <algorithm>

#include "framework/base/utf8.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/sentences.hpp"

namespace graphline::report {

namespace {

/// Text as text in XML 1.0, in an attribute too. Control characters, which it cannot hold at all,
/// and the two code points that are no characters stand as "?".
std::string escaped(std::string_view text) {
  std::string result;
  const auto clean = printable(text);
  for (std::size_t at = 0; at < clean.size();) {
    const auto [code, bytes] = utf8_at(clean, at);
    const auto character = std::string_view(clean).substr(at, bytes);
    at += bytes;
    if (code == U'\ufffe' || code == U'\uffff') {
      result += '?';
    } else if (std::string_view("<>&\"'").find(character) != std::string_view::npos) {
      result += fmt::format("&#{};", static_cast<int>(character.front()));
    } else {
      result += character;
    }
  }
  return result;
}

}  // namespace

std::string as_junit(const gate_suite& of) {
  const auto failures = std::ranges::count_if(
      of.results, [](const gate_result& one) { return one.outcome != gate_outcome::passed; });
  const auto suite = escaped(of.name);
  auto text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"{}\" tests=\"{}\" "
      "failures=\"{}\" errors=\"0\">\n",
      suite, of.results.size(), failures);
  text += "  <properties>\n";
  for (const auto& [name, value] : of.properties) {
    text +=
        fmt::format("    <property name=\"{}\" value=\"{}\"/>\n", escaped(name), escaped(value));
  }
  text += "  </properties>\n";
  for (const auto& one : of.results) {
    const auto passed = one.outcome == gate_outcome::passed;
    text += fmt::format("  <testcase classname=\"{}\" name=\"{}\">\n    ", suite,
                        escaped(one.condition.text));
    text += passed ? fmt::format("<system-out>{}</system-out>\n", escaped(sentence(one)))
                   : fmt::format("<failure type=\"{}\" message=\"{}\"/>\n",
                                 escaped(to_word(one.outcome)), escaped(sentence(one)));
    text += "  </testcase>\n";
  }
  return text + "</testsuite>\n";
}

}  // namespace graphline::report
