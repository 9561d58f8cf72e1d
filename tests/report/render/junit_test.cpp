#include <gtest/gtest.h>

#include "framework/report/render/render.hpp"
#include "framework/report/sentences.hpp"

namespace graphline::report {
namespace {

const gate limit{"p99>20ms", "p99", 20e6};

gate_result measured(double ns) {
  return {limit, ns > limit.limit ? gate_outcome::failed : gate_outcome::passed,
          quantity{ns, unit::duration}};
}

TEST(gate_sentence, has_the_value_and_what_it_rests_on) {
  EXPECT_EQ(sentence(measured(18.24e6)), "p99>20ms: passed, 18.2 ms");
  EXPECT_EQ(sentence(measured(23.4e6)), "p99>20ms: FAILED, 23.4 ms");
  EXPECT_EQ(sentence({{"late>1%", "late", 0.01},
                      gate_outcome::failed,
                      quantity{0.25, unit::share},
                      "3 of 12 frames"}),
            "late>1%: FAILED, 25 %: 3 of 12 frames");
  EXPECT_EQ(sentence({limit, gate_outcome::not_judged, {}, "\x1b no\nreason"}),
            "p99>20ms: cannot be judged: ? no?reason");
}

TEST(gate_sentence, tells_a_value_from_a_limit_that_is_near_it) {
  EXPECT_EQ(sentence(measured(20'000'412)), "p99>20ms: FAILED, 20000412 ns");
  EXPECT_EQ(sentence(measured(20e6)), "p99>20ms: passed, 20000000 ns");
}

TEST(as_junit, has_a_test_case_for_each_gate) {
  gate_suite suite{"graphline run a", {{"version", "1.0"}}, {measured(18.2e6), measured(23.4e6)}};
  EXPECT_EQ(as_junit(suite), R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="graphline run a" tests="2" failures="1" errors="0">
  <properties>
    <property name="version" value="1.0"/>
  </properties>
  <testcase classname="graphline run a" name="p99&#62;20ms">
    <system-out>p99&#62;20ms: passed, 18.2 ms</system-out>
  </testcase>
  <testcase classname="graphline run a" name="p99&#62;20ms">
    <failure type="FAILED" message="p99&#62;20ms: FAILED, 23.4 ms"/>
  </testcase>
</testsuite>
)");
}

TEST(as_junit, holds_whatever_a_name_may_be) {
  const gate_suite suite{"<&>\"' \x01\t\x7f\xff \xc3\xa4\xf0\x9f\x98\x80", {}, {}};
  EXPECT_NE(
      as_junit(suite).find("name=\"&#60;&#38;&#62;&#34;&#39; ???? \xc3\xa4\xf0\x9f\x98\x80\""),
      std::string::npos)
      << as_junit(suite);
}

}  // namespace
}  // namespace graphline::report
