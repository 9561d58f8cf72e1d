#include "tests/report/trace/read_trace.hpp"

#include <algorithm>
#include <cmath>

#include "framework/report/trace/trace_json.hpp"
#include "tests/report/result_texts.hpp"

namespace graphline::samples {

namespace {

using json = nlohmann::ordered_json;

struct stretch {
  json track;
  nanoseconds begin = 0;
  nanoseconds end = 0;
};

std::vector<stretch> stretches_of(const json& trace) {
  std::vector<stretch> result;
  for (const auto& event : events_of(trace, "X")) {
    const auto begin = ns_of(event["ts"]);
    result.push_back({event["tid"], begin, begin + ns_of(event["dur"])});
  }
  return result;
}

}  // namespace

json read_trace(const run_record& record) {
  return json::parse(trace_json(record));
}

std::vector<json> events_of(const json& trace, std::string_view phase) {
  std::vector<json> result;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == phase) result.push_back(event);
  }
  return result;
}

std::vector<json> slices_named(const json& trace, std::string_view name) {
  auto slices = events_of(trace, "X");
  std::erase_if(slices, [&](const json& slice) { return slice["name"] != name; });
  return slices;
}

nanoseconds ns_of(const json& microseconds) {
  return std::llround(microseconds.get<double>() * 1000);
}

bool nested(const json& trace) {
  auto all = stretches_of(trace);
  std::sort(all.begin(), all.end(), [](const stretch& a, const stretch& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  for (auto a = all.begin(); a != all.end(); ++a) {
    for (auto b = a + 1; b != all.end(); ++b) {
      if (a->track == b->track && b->begin < a->end && b->end > a->end) return false;
    }
  }
  return true;
}

bool within_a_slice(const json& trace, const json& arrow) {
  const auto all = stretches_of(trace);
  const auto at = ns_of(arrow["ts"]);
  return std::any_of(all.begin(), all.end(), [&](const stretch& s) {
    return s.track == arrow["tid"] && s.begin <= at && at < s.end;
  });
}

}  // namespace graphline::samples
