#include "framework/report/html/roofline_page.hpp"

#include <algorithm>

#include "framework/analysis/roofline/roofline.hpp"
#include "framework/analysis/run/summary.hpp"
#include "framework/base/version.hpp"
#include "framework/report/html/html_page.hpp"
#include "framework/report/html/origin_data.hpp"
#include "framework/report/html/roofline_data.hpp"
#include "framework/report/html/run_notices.hpp"
#include "framework/report/terminal/heading.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

/// Those of both runs, each once.
json notices_of(const roofline_record& record) {
  auto list = notices_of(record.stages, summarize(record.stages));
  for (auto& notice :
       notices_of(record.layers, summarize(record.layers), " of the run for parts")) {
    if (std::find(list.begin(), list.end(), notice) == list.end()) list.push_back(notice);
  }
  return list;
}

}  // namespace

std::string roofline_html(const roofline_record& record) {
  const auto& run = record.stages;
  auto data = json::object();
  data["kind"] = "roofline";
  data["title"] = run.pipeline;
  data["description"] = run.description;
  data["program"] = "graphline " + std::string(version());
  data["subject"] = subject_of(run);
  data["way"] =
      way_of(run.run) + ", timing event" + (record.layers.frames.empty() ? "" : ", parts layers");
  data["amount"] = amount_of(run);
  data["notices"] = notices_of(record);
  if (const auto held = hold_against_roofline(run, &record.layers)) {
    data["roofline"] = roofline_data(record, *held);
  } else {
    data["notices"].push_back(
        {{"tone", "bad"},
         {"text",
          "There is no roofline: this result has no calibration with a bandwidth and a rate. Run "
          "'graphline calibrate' on the device, then 'graphline roofline' again."}});
  }
  data["origin"] = origin_data(run);
  return html_page(run.pipeline, data);
}

}  // namespace graphline
