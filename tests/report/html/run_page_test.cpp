#include "framework/report/html/run_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "framework/base/utf8.hpp"
#include "framework/report/html/html_page.hpp"
#include "framework/report/html/page_parts.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/report/html/page_records.hpp"
#include "tests/report/html/page_testing.hpp"

namespace graphline {
namespace {

using samples::data_of;
using samples::times_in;
using testing::HasSubstr;

TEST(run_page, begins_as_pages_do_and_holds_its_parts) {
  const auto page = run_html(samples::two_models(timing_method::event, 60));
  EXPECT_EQ(page.find(html_beginning), 0u);
  EXPECT_THAT(page, HasSubstr(std::string(page_style)));
  EXPECT_THAT(page, HasSubstr(std::string(page_script)));
  EXPECT_THAT(page, HasSubstr(std::string(chart_library)));
  EXPECT_THAT(chart_library.substr(0, 300), HasSubstr("MIT"));
}

TEST(run_page, takes_nothing_from_elsewhere) {
  auto page = run_html(samples::two_models(timing_method::event, 60));
  const auto library = page.find(chart_library);
  ASSERT_NE(library, page.npos);
  page.erase(library, chart_library.size());
  // Addresses are the name of SVG's elements and nothing else.
  EXPECT_EQ(times_in(page, "http:"), times_in(page, "http://www.w3.org/2000/svg"));
  for (const char* way : {"https:", "src=", "@import", "<link", "fetch(", "XMLHttpRequest",
                          "WebSocket", "EventSource", "sendBeacon", "import("}) {
    EXPECT_EQ(times_in(page, way), 0u) << way;
  }
  // Pictures refer to their own arrow heads.
  EXPECT_EQ(times_in(page, "url("), times_in(page, "url(#"));
}

TEST(run_page, is_not_broken_by_names) {
  const auto plain = run_html(samples::two_models(timing_method::event, 60));
  const auto odd = run_html(samples::odd_names());
  for (const char* mark : {"</script", "<script", "<!--", "<img"}) {
    EXPECT_EQ(times_in(odd, mark), times_in(plain, mark)) << mark;
  }
  EXPECT_THAT(odd, HasSubstr("<title>&lt;b>\"odd\" &amp; 'names'&lt;/b>&lt;/script>&lt;!--"));
  EXPECT_FALSE(first_invalid_utf8(odd));
}

TEST(run_page, hands_names_on_as_they_are) {
  const auto data = data_of(run_html(samples::odd_names()));
  EXPECT_EQ(data["title"], "<b>\"odd\" & 'names'</b></script><!--");
  EXPECT_EQ(data["description"], "Zeile eins\nline two \xef\xbf\xbd מימין לשמאל");
  const auto& rows = data["summary"]["stages"]["rows"];
  EXPECT_EQ(rows[0]["name"], "<img src=x onerror=alert(1)>");
  EXPECT_EQ(rows[1]["name"], "quote\" 'and'\nnew line");
  EXPECT_EQ(rows[2]["name"], "שלב אחרון 最后 \xef\xbf\xbd(");
  EXPECT_EQ(data["latency"]["series"][2]["name"], "quote\" 'and'\nnew line");
  EXPECT_EQ(data["summary"]["outputs"][0][0], "score</script><script>alert(2)</script>");
  EXPECT_EQ(data["origin"]["sources"][0]["text"],
            "pipeline: \"<b>\"\n# </script><!-- <script>\nstages:\n  - name: שלב\n");
}

TEST(run_page, says_first_what_went_wrong) {
  const auto failed = data_of(run_html(samples::failed()));
  ASSERT_EQ(failed["notices"].size(), 1u);
  EXPECT_EQ(failed["notices"][0]["tone"], "bad");
  EXPECT_EQ(failed["notices"][0]["text"],
            "Failed after 7 of 45 frames: stage 'head': the device has no memory left");
  const auto stopped = data_of(run_html(samples::without_frames()));
  EXPECT_EQ(stopped["notices"][0]["text"], "Interrupted after 0 of 45 frames");
}

TEST(run_page, of_no_frames_has_no_figures_of_them) {
  const auto data = data_of(run_html(samples::without_frames()));
  EXPECT_TRUE(data["latency"].is_null());
  EXPECT_TRUE(data["distribution"].is_null());
  EXPECT_FALSE(data["summary"].contains("end_to_end"));
  EXPECT_FALSE(data["summary"].contains("stages"));
}

TEST(run_page, tells_how_and_how_much_was_run) {
  const auto data = data_of(run_html(samples::two_models(timing_method::sync, 45)));
  EXPECT_EQ(data["way"], "async, graphs stage, 1 frame in flight, wait block, timing sync");
  EXPECT_EQ(data["amount"], "batch=1, side=112; 45 frames after 5 warm-up");
}

TEST(run_page, of_very_many_frames_stays_small) {
  const auto page = run_html(samples::long_run(100'000));
  EXPECT_LT(page.size(), 5'000'000u);
  const auto data = data_of(page);
  std::size_t own = 0;
  for (const char* part : {"summary", "detail", "latency", "distribution", "origin"}) {
    own += data[part].dump().size();
  }
  EXPECT_LT(own, 600'000u);
}

TEST(run_page, of_very_many_stages_stays_small) {
  auto record = samples::two_models(timing_method::event, 2000);
  const auto stage = record.stages.front();
  for (int i = 0; i < 200; ++i) record.stages.push_back(stage);
  const auto data = data_of(run_html(record));
  EXPECT_LT(data["latency"].dump().size() + data["distribution"].dump().size(), 1'500'000u);
}

}  // namespace
}  // namespace graphline
