#include "framework/report/json/experiment_json.hpp"

#include <algorithm>

#include "framework/analysis/experiment/sweep.hpp"
#include "framework/base/json_reader.hpp"
#include "framework/report/json/common_json.hpp"
#include "framework/report/json/experiment_figures_json.hpp"
#include "framework/report/json/experiment_parts_json.hpp"
#include "framework/report/json/json_text.hpp"
#include "framework/report/json/record_json.hpp"
#include "framework/report/json/sweep_json.hpp"
#include "framework/report/sentences.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

template <class T, class Write>
json written(const T& value, Write write) {
  compact_json text;
  write(text, value);
  return read_json(text.take());
}

json pairs_of_texts(const std::vector<std::pair<std::string, std::string>>& pairs) {
  json list = json::array();
  for (const auto& [name, text] : pairs) list.push_back({name, text});
  return list;
}

/// One a line: their text is long, and made as it is.
void write_trials(text_sink& to, const std::vector<trial_record>& trials) {
  to.append("[");
  for (const auto& trial : trials) {
    to.append(&trial == trials.data() ? "\n    " : ",\n    ");
    compact_json text(to);
    write_record(text, trial);
    text.finish();
  }
  to.append(trials.empty() ? "]" : "\n  ]");
}

}  // namespace

void write_experiment_json(text_sink& to, const experiment_record& record,
                           const experiment_summary& summary,
                           const std::vector<finding>& findings) {
  auto result = json::object();
  result["schema"] = "graphline.experiment/1";
  result["name"] = record.name;
  result["description"] = record.description;
  result["settings"] = written(record.how, write_how);
  result["files"] = pairs_of_texts(record.files);
  json sources = json::array();
  for (const auto& source : record.sources) {
    sources.push_back({{"file", source.file}, {"text", source.text}});
  }
  result["sources"] = std::move(sources);
  if (!record.trials.empty()) {
    const auto& first = record.trials.front().members.front();
    result["device"] = device_json(first.device);
    result["environment"] = texts_json(first.environment);
  }
  if (record.calibration) result["calibration"] = written(*record.calibration, write_calibration);
  result["complete_blocks"] = summary.complete_blocks;
  result["trials_left_out"] = summary.trials_left_out;
  result["stopped"] = record.stopped;
  result["interrupted"] = record.interrupted;
  result["failure"] = or_null(record.failure);
  result["configurations"] = configurations_json(record, summary);
  result["comparisons"] = comparisons_json(record, summary);
  result["stage_comparisons"] = stage_comparisons_json(record, summary);
  if (const auto swept = sweep_of(record, summary)) result["sweep"] = sweep_json(*swept, record);
  result["steadiness"] = steadiness_json(summary.machine);
  result["findings"] = report::sentences_of(findings);
  result["pairs"] = written(record.pairs, write_pairs);
  const last_entry raw = {"trials",
                          [&record](text_sink& sink) { write_trials(sink, record.trials); }};
  write_json(to, result, &raw);
}

std::uint64_t expected_experiment_json_bytes(const experiment_plan& planned) {
  constexpr std::uint64_t around_trial = 16384;  // settings, device, environment, outputs, graphs
  constexpr std::uint64_t stamp = sizeof "123456789012,";
  const auto number = [](std::int64_t n) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(n, 0));
  };
  std::uint64_t block = 0;
  for (const auto& configuration : planned.configurations) {
    for (const auto& member : configuration.members) {
      // A frame has three stamps; a device stage two for its time and two for being enqueued.
      const auto stamps = 3 + 4 * std::uint64_t{member.stages.size()};
      block += around_trial + number(member.run.frames) * stamps * stamp;
    }
  }
  // The figures of a configuration are about as long as what surrounds the stamps of a trial.
  return around_trial * planned.configurations.size() + number(planned.how.trials) * block;
}

}  // namespace graphline
