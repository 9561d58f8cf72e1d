#include "framework/spec/node.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace graphline {
namespace {

TEST(node, is_nothing_unless_made_from_something) {
  EXPECT_TRUE(node().is_null());
  EXPECT_EQ(node().describe(), "nothing");
}

TEST(node, holds_values_as_the_text_yaml_would) {
  EXPECT_EQ(node("abc").text(), "abc");
  EXPECT_EQ(node(-3).text(), "-3");
  EXPECT_EQ(node(std::numeric_limits<std::int64_t>::min()).text(), "-9223372036854775808");
  EXPECT_EQ(node(0.1).text(), "0.1");
  EXPECT_EQ(node(true).text(), "true");
  EXPECT_EQ(node(false).text(), "false");
  EXPECT_FALSE(node("abc").quoted());
}

TEST(node, finds_members_of_a_mapping) {
  const node mapping = node::mapping({{{"a", {}}, 1}, {{"b", {}}, "two"}});
  ASSERT_NE(mapping.find("b"), nullptr);
  EXPECT_EQ(mapping.find("b")->text(), "two");
  EXPECT_EQ(mapping.find("c"), nullptr);
  EXPECT_EQ(node("a").find("a"), nullptr);
}

TEST(node, describes_itself_as_messages_put_it) {
  EXPECT_EQ(node("abc").describe(), "'abc'");
  EXPECT_EQ(node::sequence({1, 2}).describe(), "a list");
  EXPECT_EQ(node::mapping({}).describe(), "a mapping");
}

TEST(node, is_shown_on_one_line_as_yaml_could_hold_it) {
  const node list = node::sequence({1, node::sequence({"a", true})});
  EXPECT_EQ(list.in_one_line(), "[1, [a, true]]");
  EXPECT_EQ(node::mapping({{{"cuda"}, 32}, {{"host"}, list}}).in_one_line(),
            "{cuda: 32, host: [1, [a, true]]}");
  EXPECT_EQ(node::scalar("1 2", true, {}).in_one_line(), "1 2");
  EXPECT_EQ(node().in_one_line(), "null");
}

}  // namespace
}  // namespace graphline
