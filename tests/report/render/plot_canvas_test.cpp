#include "framework/report/render/plot_canvas.hpp"

#include <gtest/gtest.h>

namespace graphline {
namespace {

const terminal_style ascii{.colors = false, .width = 80, .blocks = false};

TEST(plot_canvas, draws_lines_of_dots_and_of_ascii) {
  plot_canvas dots(4, 2, {});
  dots.line(0, 0, 1, 1);
  EXPECT_EQ(dots.row(0), "  ⡠⠊");
  EXPECT_EQ(dots.row(1), "⡠⠊");
  plot_canvas plain(4, 2, ascii);
  plain.line(0, 0, 1, 1);
  EXPECT_EQ(plain.row(0), "  -'");
  EXPECT_EQ(plain.row(1), "-'");
}

TEST(plot_canvas, leaves_out_what_lies_outside) {
  plot_canvas canvas(3, 2, {});
  canvas.line(0, 2, 1, 2);
  canvas.dotted(1.5, 0, 1);
  EXPECT_FALSE(canvas.mark(-0.1, 0.5, 'x'));
  EXPECT_FALSE(canvas.mark(0.5, 1.1, 'x'));
  EXPECT_EQ(canvas.row(0) + canvas.row(1), "");
  canvas.line(-1, -1, 2, 2);  // cut off on both sides
  EXPECT_NE(canvas.row(0), "");
}

TEST(plot_canvas, sets_marks_beside_each_other_where_they_would_meet) {
  plot_canvas canvas(9, 1, ascii);
  for (const char c : {'A', 'B', 'C', 'D', 'E', 'F', 'G'}) EXPECT_TRUE(canvas.mark(0.5, 0.5, c));
  EXPECT_FALSE(canvas.mark(0.5, 0.5, 'H'));
  EXPECT_EQ(canvas.row(0), " GECABDF");
}

TEST(plot_canvas, keeps_marks_at_the_edges_inside) {
  plot_canvas canvas(3, 2, ascii);
  EXPECT_TRUE(canvas.mark(1, 1, 'a'));
  EXPECT_TRUE(canvas.mark(1, 1, 'b'));
  EXPECT_TRUE(canvas.mark(0, 0, 'c'));
  EXPECT_EQ(canvas.row(0), " ba");
  EXPECT_EQ(canvas.row(1), "c");
}

TEST(plot_canvas, writes_texts_on_free_ground_only) {
  plot_canvas canvas(10, 2, ascii);
  canvas.mark(0.55, 0.9, 'x');
  EXPECT_FALSE(canvas.text(0, 0, "12345"));  // would touch
  EXPECT_TRUE(canvas.text(0, 0, "1234"));
  EXPECT_FALSE(canvas.text(8, 1, "123"));
  EXPECT_FALSE(canvas.text(-1, 1, "123"));
  EXPECT_FALSE(canvas.text(0, 2, "123"));
  EXPECT_EQ(canvas.row(0), "1234 x");
}

TEST(plot_canvas, has_colors_that_end_with_what_they_are_for) {
  plot_canvas canvas(3, 1, {.colors = true, .width = 80, .blocks = true});
  canvas.mark(0.5, 0.5, 'A');
  EXPECT_EQ(canvas.row(0), " \x1b[32mA\x1b[0m");
}

}  // namespace
}  // namespace graphline
