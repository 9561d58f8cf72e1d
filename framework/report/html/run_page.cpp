#include "framework/report/html/run_page.hpp"

#include "framework/base/version.hpp"
#include "framework/report/html/attribution_data.hpp"
#include "framework/report/html/distribution_data.hpp"
#include "framework/report/html/html_page.hpp"
#include "framework/report/html/latency_data.hpp"
#include "framework/report/html/origin_data.hpp"
#include "framework/report/html/pipeline_data.hpp"
#include "framework/report/html/run_notices.hpp"
#include "framework/report/html/summary_data.hpp"
#include "framework/report/html/timeline_data.hpp"
#include "framework/report/terminal/floor_cells.hpp"
#include "framework/report/terminal/heading.hpp"

namespace graphline {

std::string run_html(const run_record& record, const run_analysis& analysis,
                     const page_options& options) {
  const auto& summary = analysis.summary;
  const floors held(analysis.roofline);
  auto data = nlohmann::ordered_json::object();
  data["kind"] = "run";
  data["title"] = record.pipeline;
  data["description"] = record.description;
  data["program"] = "graphline " + std::string(version());
  data["subject"] = subject_of(record);
  data["way"] = way_of(record.run) + ", timing " + std::string(to_word(record.run.timing));
  data["amount"] = amount_of(record);
  data["notices"] = notices_of(record, summary);
  data["summary"] = summary_data(record, analysis, held);
  data["detail"] = detail_data(record, summary, held);
  data["latency"] = latency_data(record, summary);
  data["distribution"] = distribution_data(record, summary);
  if (const auto& attribution = analysis.attribution) {
    data["timeline"] = timeline_data(record, *attribution, options.frames);
    data["attribution"] = attribution_data(record, *attribution);
  }
  data["pipeline"] = pipeline_data(record, summary);
  data["origin"] = origin_data(record);
  return html_page(record.pipeline, data);
}

}  // namespace graphline
