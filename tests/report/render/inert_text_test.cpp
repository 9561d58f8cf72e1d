#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "framework/base/utf8.hpp"
#include "framework/report/json/json_text.hpp"
#include "framework/report/render/render.hpp"

// Texts from files are inert in every format.

namespace graphline::report {
namespace {

/// All control characters and marks that reverse the direction of text.
std::string all_controls() {
  std::string text;
  for (char32_t code = 0; code < 0x10000; ++code) {
    if (!is_control(code)) continue;
    if (code < 0x80) {
      text += static_cast<char>(code);
    } else if (code < 0x800) {
      text += {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 0x3f))};
    } else {
      text += {static_cast<char>(0xe0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 0x3f)),
               static_cast<char>(0x80 | (code & 0x3f))};
    }
  }
  return text;
}

/// Number of control characters other than line breaks.
std::size_t controls_in(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); at += utf8_at(text, at).bytes) {
    const auto code = utf8_at(text, at).code;
    if (!code || (is_control(*code) && *code != '\n')) ++count;
  }
  return count;
}

/// A document with the text wherever it can hold one from a file.
document with_text_everywhere(const std::string& text) {
  document made{"run", text, text, {text}, {}, {}, "stages"};
  made.findings.push_back(finding{""}.with("text", text));
  made.parts.push_back(table{"stages",
                             text,
                             "stage",
                             "part",
                             {{"name", text}, {"kind", text, {}, 0, text}},
                             {{{text, text}}}});
  made.parts.push_back(facts{"f", text, {{"k", text, text, text}}});
  made.parts.push_back(note{text});
  return made;
}

TEST(every_format, shows_control_characters_of_no_text) {
  const auto controls = all_controls();
  EXPECT_GT(controls.size(), 100U);
  const auto says = with_text_everywhere("a" + controls + "b\xff");
  EXPECT_EQ(controls_in(as_text(says)), 0U);
  EXPECT_EQ(controls_in(as_csv(says)), 0U);
  EXPECT_EQ(controls_in(as_markdown(says)), 0U);
  EXPECT_EQ(controls_in(text_by([&](text_sink& to) { report::write_json(to, says); })), 0U);
  const auto page = as_html(says);
  constexpr std::string_view before = "id=\"document\">";
  const auto begin = page.find(before) + before.size();
  const auto data = page.substr(begin, page.find("</script>", begin) - begin);
  const auto shown = nlohmann::ordered_json::parse(data)["title"].get<std::string>();
  EXPECT_TRUE(shown.starts_with("a\uFFFD"));
  EXPECT_EQ(controls_in(data) + controls_in(shown), 2U);  // line breaks and tabs stay
}

TEST(write_json, keeps_control_characters_as_escapes) {
  const auto controls = all_controls();
  EXPECT_EQ(nlohmann::ordered_json::parse(json_line(controls)), controls);
}

TEST(as_markdown, makes_no_link_of_a_text_and_mentions_nobody) {
  const auto of = [](const std::string& name) {
    const auto text = as_markdown(with_text_everywhere(name));
    constexpr std::string_view rule = "| --- | --- |\n| ";
    const auto begin = text.find(rule) + rule.size();
    return text.substr(begin, text.find(" | ", begin) - begin);
  };
  EXPECT_EQ(of("@team"), "@&#8203;team");
  EXPECT_EQ(of("a@b.org"), "a@&#8203;b.org");
  EXPECT_EQ(of("#12"), "#&#8203;12");
  EXPECT_EQ(of("GH-12"), "GH-&#8203;12");
  EXPECT_EQ(of("https://a.org"), "https:&#8203;//a.org");
  EXPECT_EQ(of("www.a.org"), "www&#8203;.a.org");
  EXPECT_EQ(of("[a](b)"), "\\[a\\](b)");
  EXPECT_EQ(of("&lt;a&#62;"), "&amp;lt;a&amp;#&#8203;62;");
  EXPECT_EQ(of("$a$"), "\\$a\\$");
  for (const char* const block : {"- a", "+ a", "---", "=="}) {
    EXPECT_EQ(of(block), "\\" + std::string(block));
  }
  EXPECT_EQ(of("1. a"), "1\\. a");
  for (const char* const plain : {"1.5", "-1.5", "a - b", "a=b", "0.conv2d+1.relu"}) {
    EXPECT_EQ(of(plain), plain);
  }
}

}  // namespace
}  // namespace graphline::report
