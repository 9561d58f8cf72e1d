#include "framework/report/render/render.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "framework/base/utf8.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/page_parts.hpp"
#include "framework/report/render/text_table.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/report/golden.hpp"
#include "tests/report/page_records.hpp"
#include "tests/report/result_texts.hpp"
#include "tests/report/roofline_records.hpp"
#include "tests/report/sample_roofline.hpp"

namespace graphline::report {
namespace {

using json = nlohmann::ordered_json;
using samples::expect_golden;
using samples::two_models_roofline;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Occurrences of `part` in `text`.
std::size_t times_in(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// A document with one table of these rows.
document small(std::vector<row> rows) {
  document made{"run", "p", "", {"p on host"}, {}, {}, "stages"};
  made.parts.push_back(table{"stages",
                             "Stages",
                             "stage",
                             "part",
                             {{"name", "stage"},
                              {"kind", "kind", {}, 0, "", in_page | in_data},
                              {"time", "time", unit::duration, 0, "what it took"},
                              {"secret", "", unit::bytes, 0, "", in_data},
                              {"share", "share %", unit::share, 1}},
                             std::move(rows)});
  return made;
}

cell ns(double value) {
  return quantity{value, unit::duration};
}

cell part(double value) {
  return quantity{value, unit::share};
}

/// A document with one table that has a total.
document with_total() {
  document made{"run", "p", "", {"p"}, {}, {}, "stages"};
  made.parts.push_back(table{"stages",
                             "Stages",
                             "stage",
                             "part",
                             {{"name", "stage"}, {"kind", "kind"}, {"words", "words", unit::count}},
                             {{{"a", "k", quantity{6.5e6, unit::count}}}, {{"b", "k", {}}, 1}},
                             everywhere,
                             row{{"all", {}, quantity{2e17, unit::count}}}});
  return made;
}

// ---- Text ---------------------------------------------------------------------------------------

TEST(as_text, shows_tables_facts_charts_and_findings) {
  expect_golden("roofline.txt", as_text(describe(two_models_roofline(20))));
}

TEST(as_text, keeps_to_a_narrow_terminal) {
  expect_golden("roofline_narrow.txt", as_text(describe(two_models_roofline(20)), {.width = 40}));
}

TEST(as_text, has_one_unit_of_time_in_a_table) {
  const auto text = as_text(
      small({{{"a", "k", ns(1.5e6), {}, part(0.5)}}, {{"b", "k", ns(20'000), {}, part(0.25)}, 1}}));
  EXPECT_THAT(text, AllOf(HasSubstr("stage (ms)   time  share %\n"),
                          HasSubstr("\na           1.50      50.0\n"),
                          HasSubstr("\n  b         0.020     25.0\n")))
      << text;
}

TEST(as_text, leaves_out_columns_of_which_nothing_is_known) {
  const auto text = as_text(small({{{"a", "k", {}, quantity{5, unit::bytes}, part(0.5)}}}));
  EXPECT_THAT(
      text, AllOf(HasSubstr("stage  share %\n"), Not(HasSubstr("time")), Not(HasSubstr("secret"))));
}

TEST(as_text, puts_failures_first_and_warnings_last) {
  auto says = small({{{"a", "k", ns(1), {}, {}}}});
  for (const auto how :
       {finding_severity::warning, finding_severity::note, finding_severity::failure}) {
    says.findings.push_back(finding{"", how}.with("text", "of " + std::string(to_word(how))));
  }
  const auto text = as_text(says);
  const auto at = [&](const char* what) { return text.find(what); };
  EXPECT_LT(at("\n\nof failure\n"), at("stage (ns)")) << text;
  EXPECT_LT(at("stage (ns)"), at("\ntime: what it took"));
  EXPECT_LT(at("\ntime: what it took"), at("\n- of note\n"));
  EXPECT_LT(at("\n- of note\n"), at("\nwarning: of warning\n"));
}

TEST(as_text, has_the_total_of_a_table_below_its_rows) {
  EXPECT_EQ(as_text(with_total()),
            "p\n\n"
            "stage  kind   words\n"
            "a      k     6.50 M\n"
            "  b    k          -\n"
            "all           200 P\n");
}

TEST(as_text, shows_nothing_that_a_terminal_would_act_on) {
  auto says = small({{{"a\x1b[2Jb", "k", ns(1), {}, {}}}});
  says.findings.push_back(finding{""}.with("text", std::string("x\x1by")));
  says.parts.push_back(facts{"f", "F", {{"k", "k", "v\x1bw", ""}}});
  EXPECT_EQ(as_text(says).find('\x1b'), std::string::npos);
}

// ---- Data ---------------------------------------------------------------------------------------

TEST(as_csv, has_a_line_for_each_row_and_a_field_for_each_column_of_data) {
  expect_golden("roofline.csv", as_csv(describe(two_models_roofline(5))));
  // Without quoted parts.
  const auto text =
      std::regex_replace(as_csv(describe(two_models_roofline(5))), std::regex("\"[^\"]*\""), "");
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  const auto fields = std::ranges::count(line, ',');
  std::size_t rows = 0;
  while (std::getline(lines, line)) {
    EXPECT_EQ(std::ranges::count(line, ','), fields) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 3u + 2);
}

TEST(as_csv, quotes_names_and_leaves_empty_what_is_not_known) {
  EXPECT_EQ(as_csv(small({
                {{"a,\"b\"", "k", ns(1.5), {}, {}}},
            })),
            "level,stage,part,kind,time_ns,secret,share\nstage,\"a,\"\"b\"\"\",,k,1.5,,\n");
}

TEST(as_csv, has_whole_counts_and_a_last_row_for_the_total) {
  EXPECT_EQ(as_csv(with_total()),
            "level,stage,part,kind,words\nstage,a,,k,6500000\npart,a,b,k,\n"
            "total,,,,200000000000000000\n");
}

TEST(as_csv, is_empty_without_the_table) {
  EXPECT_EQ(as_csv(describe(samples::uncalibrated())), "");
}

TEST(as_text, has_one_unit_for_times_that_stand_with_theirs) {
  const auto time = [](double ns) { return cell(ns, unit::duration); };
  document says;
  says.parts.push_back(
      facts{"f", "F", {{"a", "a", time(74.2e6)}, {"b", "b", time(870e3)}, {"c", "c", time(950)}}});
  says.parts.push_back(table{"t",
                             "",
                             "",
                             "",
                             {{"name", "figure"}, {"before", "before"}, {"after", "after"}},
                             {{{"one", time(999e3), time(1.02e6)}},
                              {{"two", time(870e3), "x"}},
                              {{"three", time(20), time(0)}}}});
  EXPECT_EQ(as_text(says),
            "F\na  74.2 ms\nb  0.870 ms\nc  950 ns\n\n"
            "figure  before    after\n"
            "one     0.999 ms  1.02 ms\n"
            "two     0.870 ms  x\n"
            "three   20.0 ns   0 ns\n");
}

TEST(as_text, keeps_three_digits_of_the_smallest_of_times_that_stand_with_theirs) {
  const auto time = [](double ns) { return cell(ns, unit::duration); };
  document says;
  says.parts.push_back(table{"t",
                             "",
                             "",
                             "",
                             {{"name", "figure"}, {"before", "before"}, {"after", "after"}},
                             {{{"p50", time(5.13e6), time(6.02e6)}},
                              {{"p99", time(13.4e6), time(12.9e6)}},
                              {{"max", time(1.25e9), time(0)}}}});
  EXPECT_EQ(as_text(says),
            "figure  before   after\n"
            "p50     5.13 ms  6.02 ms\n"
            "p99     13.4 ms  12.9 ms\n"
            "max     1250 ms  0 ms\n");
}

TEST(write_json, has_tables_facts_and_findings_under_their_keys) {
  auto result = json::parse(result_json(two_models_roofline(5)));
  EXPECT_TRUE(result.erase("record") == 1);  // which the reader of records is for
  expect_golden("roofline.json", result.dump(2) + "\n");
}

TEST(write_json, has_the_numbers_of_a_total) {
  const auto result =
      json::parse(text_by([](text_sink& to) { report::write_json(to, with_total()); }));
  EXPECT_EQ(result["total"], (json{{"words", 200'000'000'000'000'000}}));
}

TEST(write_json, has_null_for_what_is_not_known) {
  auto record = two_models_roofline(4);
  record.stages.stages[2].cost = {};
  const auto result = json::parse(result_json(record));
  const auto& head = result["stages"][2];
  for (const auto* key :
       {"flops", "bytes_read", "intensity", "roofline_time", "bound", "ratio", "measured"}) {
    EXPECT_TRUE(head.at(key).is_null()) << key;
  }
  EXPECT_TRUE(result["totals"]["roofline_time"].is_null());
}

TEST(write_json, leaves_out_what_takes_a_calibration) {
  auto record = two_models_roofline(5);
  record.stages.calibration.reset();
  record.layers.failure = "out of memory";
  const auto result = json::parse(result_json(record));
  for (const auto* key : {"calibration", "ceilings", "stages", "totals"}) {
    EXPECT_FALSE(result.contains(key)) << key;
  }
  EXPECT_EQ(result["failure"], "out of memory");
}

// ---- Markdown -----------------------------------------------------------------------------------

TEST(as_markdown, has_what_a_pull_request_shows) {
  expect_golden("roofline.md", as_markdown(describe(two_models_roofline(20))));
}

TEST(as_markdown, shows_names_as_they_are) {
  auto says = small({{{"<b>|*x*", "k", ns(1), {}, {}}}});
  EXPECT_THAT(as_markdown(says), HasSubstr("| \\<b\\>\\|\\*x\\* | "));
}

TEST(as_markdown, ends_a_table_with_its_total) {
  EXPECT_THAT(as_markdown(with_total()), testing::EndsWith("| all |  | 200 P |\n"));
}

// ---- HTML ---------------------------------------------------------------------------------------

/// Unlike a matcher, does not print the page.
bool has(std::string_view page, std::string_view part) {
  return page.find(part) != page.npos;
}

std::string page_of(const run_record& record) {
  return as_html(describe(record));
}

/// The document in a page.
json document_in(const std::string& page) {
  constexpr std::string_view before = "<script type=\"application/json\" id=\"document\">";
  const auto begin = page.find(before) + before.size();
  return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

TEST(as_html, is_a_template_with_the_parts_of_the_document) {
  const auto page = as_html(describe(two_models_roofline(20)));
  EXPECT_EQ(page.find("<!doctype html>\n"), 0u);
  const auto says = document_in(page);
  EXPECT_EQ(says["kind"], "roofline");
  std::vector<std::string> parts;
  for (const auto& part : says["parts"]) {
    if (part.contains("key")) parts.push_back(part["key"]);
  }
  EXPECT_THAT(parts, testing::IsSupersetOf({"stages", "totals", "roofline", "sources"}));
}

TEST(as_html, brings_the_library_of_charts_where_one_needs_it) {
  EXPECT_TRUE(has(as_html(describe(two_models_roofline(20))), chart_library));
  EXPECT_TRUE(has(page_of(samples::two_models(timing_method::event, 60)), chart_library));
  EXPECT_FALSE(has(as_html(with_total()), chart_library));
  EXPECT_TRUE(has(chart_library.substr(0, 300), "MIT"));
}

TEST(as_html, takes_nothing_from_elsewhere) {
  auto page = page_of(samples::two_models(timing_method::event, 60));
  page.erase(page.find(chart_library), chart_library.size());
  // The only address is SVG's namespace.
  EXPECT_EQ(times_in(page, "http:"), times_in(page, "http://www.w3.org/2000/svg"));
  for (const char* way : {"https:", "src=", "@import", "<link", "fetch(", "XMLHttpRequest",
                          "WebSocket", "EventSource", "sendBeacon", "import(", "url("}) {
    EXPECT_EQ(times_in(page, way), 0u) << way;
  }
}

TEST(as_html, of_very_many_frames_or_stages_stays_small) {
  EXPECT_LT(page_of(samples::long_run(100'000)).size(), 1'300'000u);
  auto record = samples::two_models(timing_method::event, 2000);
  const auto stage = record.stages.front();
  for (int i = 0; i < 200; ++i) record.stages.push_back(stage);
  EXPECT_LT(page_of(record).size(), 5'000'000u);
}

TEST(as_html, has_what_is_shown_with_numbers_to_sort_by) {
  const auto page =
      as_html(small({{{"a", "net", ns(1.5e6), {}, part(0.5)}}, {{"b", {}, {}, {}, {}}, 1}}));
  const auto says = document_in(page);
  EXPECT_EQ(says["parts"][0]["rows"][0]["cells"], json::parse(R"([{"text": "a"}, {"text": "net"},
      {"text": "1.50", "value": 1500000.0}, {"text": "50.0", "value": 0.5}])"));
  EXPECT_FALSE(has(page, "secret"));
}

TEST(as_html, is_not_broken_by_names) {
  const auto odd = as_html(describe(samples::calibrated_odd_names()));
  const auto odd_run = page_of(samples::odd_names());
  for (const auto& [plain, names] :
       {std::pair(as_html(describe(samples::calibrated_two_models())), odd),
        std::pair(page_of(samples::two_models(timing_method::event, 60)), odd_run)}) {
    for (const char* mark : {"</script", "<script", "<!--", "<img", "<b>", "<i>"}) {
      EXPECT_EQ(times_in(names, mark), times_in(plain, mark)) << mark;
    }
    EXPECT_FALSE(first_invalid_utf8(names));
  }
  EXPECT_TRUE(has(odd, "\\u003cimg src=x onerror=alert(1)>"));
}

}  // namespace
}  // namespace graphline::report
