#include "framework/base/place.hpp"

#include <gtest/gtest.h>

namespace graphline {
namespace {

TEST(source_text, gives_lines_without_their_ends) {
  const source_text source("a", "one\r\ntwo\n\nfour");
  EXPECT_EQ(source.line(1), "one");
  EXPECT_EQ(source.line(2), "two");
  EXPECT_EQ(source.line(3), "");
  EXPECT_EQ(source.line(4), "four");
}

TEST(source_text, has_empty_lines_outside_the_text) {
  const source_text source("a", "one\n");
  EXPECT_EQ(source.line(0), "");
  EXPECT_EQ(source.line(2), "");
  EXPECT_EQ(source.line(3), "");
}

TEST(source_text, drops_a_byte_order_mark) {
  const source_text source("a", "\xef\xbb\xbfone");
  EXPECT_EQ(source.line(1), "one");
  EXPECT_EQ(source.text(), "one");
}

TEST(place, is_nowhere_unless_it_has_a_source) {
  EXPECT_FALSE(place());
  EXPECT_TRUE(place{std::make_shared<source_text>("a", "")});
}

}  // namespace
}  // namespace graphline
