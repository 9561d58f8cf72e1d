// docs/record.md has a table for each struct of a record: keys and types from `fields`, and
// meanings written by hand. With GRAPHLINE_UPDATE_GOLDEN=1 in the environment, the test writes the
// tables and keeps the meanings. A new key gets a "?", which fails until it is replaced.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "framework/report/json/record_fields.hpp"
#include "framework/report/json/result_kinds.hpp"

namespace graphline {
namespace {

/// Headings of tables in the document.
template <class T>
constexpr const char* heading = nullptr;
template <>
constexpr auto heading<run_record> = "run";
template <>
constexpr auto heading<prediction_record> = "prediction";
template <>
constexpr auto heading<predicted_figure> = "predicted figure";
template <>
constexpr auto heading<faster_stage> = "faster stage";
template <>
constexpr auto heading<stage_factor> = "stage factor";
template <>
constexpr auto heading<worst_case> = "worst case";
template <>
constexpr auto heading<longest_stage> = "longest stage";
template <>
constexpr auto heading<device_change> = "device change";
template <>
constexpr auto heading<policy_record> = "policy";
template <>
constexpr auto heading<settings> = "settings";
template <>
constexpr auto heading<device_properties> = "device";
template <>
constexpr auto heading<device_record> = "declared device";
template <>
constexpr auto heading<memory_usage> = "memory";
template <>
constexpr auto heading<source_record> = "source";
template <>
constexpr auto heading<conditions_record> = "conditions";
template <>
constexpr auto heading<standstill_record> = "standstill";
template <>
constexpr auto heading<device_state> = "device state";
template <>
constexpr auto heading<thread_time> = "thread time";
template <>
constexpr auto heading<load_record> = "load";
template <>
constexpr auto heading<stage_record> = "stage";
template <>
constexpr auto heading<cost_record> = "cost";
template <>
constexpr auto heading<bucket_record> = "bucket";
template <>
constexpr auto heading<wait_record> = "wait";
template <>
constexpr auto heading<part_record> = "part";
template <>
constexpr auto heading<operation_record> = "operation";
template <>
constexpr auto heading<tensor_record> = "tensor";
template <>
constexpr auto heading<graph_record> = "graph";
template <>
constexpr auto heading<graph_node> = "graph node";
template <>
constexpr auto heading<output_record> = "output";
template <>
constexpr auto heading<calibration> = "used calibration";
template <>
constexpr auto heading<ceiling_figure> = "used ceiling";
template <>
constexpr auto heading<calibration_record> = "calibration";
template <>
constexpr auto heading<ceiling_record> = "ceiling";
template <>
constexpr auto heading<roofline_record> = "roofline";
template <>
constexpr auto heading<capacity_record> = "capacity";
template <>
constexpr auto heading<capacity_settings> = "capacity settings";
template <>
constexpr auto heading<capacity_run> = "capacity run";
template <>
constexpr auto heading<capacity_set> = "capacity set";
template <>
constexpr auto heading<ranks_record> = "ranks";
template <>
constexpr auto heading<rank_record> = "rank";
template <>
constexpr auto heading<clock_offset> = "clock offset";
template <>
constexpr auto heading<validation_record> = "validation";
template <>
constexpr auto heading<validation_round> = "validation round";
template <>
constexpr auto heading<experiment_record> = "experiment";
template <>
constexpr auto heading<experiment_settings> = "experiment settings";
template <>
constexpr auto heading<experiment_configuration> = "configuration";
template <>
constexpr auto heading<compared_pair> = "pair";
template <>
constexpr auto heading<chain_record> = "chain";
template <>
constexpr auto heading<configuration_member> = "member";
template <>
constexpr auto heading<trial_record> = "trial";
template <>
constexpr auto heading<trial_place> = "trial place";
template <>
constexpr auto heading<search_record> = "search";
template <>
constexpr auto heading<search_limit> = "search limit";
template <>
constexpr auto heading<search_candidate> = "search candidate";

template <>
constexpr auto heading<cost_summary> = "inspection";
template <>
constexpr auto heading<stage_figures> = "inspected stage";
template <>
constexpr auto heading<bucket_figures> = "inspected bucket";
template <>
constexpr auto heading<written_tensor> = "written tensor";
template <>
constexpr auto heading<layer_figures> = "inspected layer";
template <>
constexpr auto heading<cost_figures> = "figures";

/// Lists keys and types from `fields`.
class key_lister : public record_counts {
 public:
  struct entry {
    std::string key;
    std::string type;
  };

  template <class T>
  void value(std::string_view key, const T& item, const number_range& = {}) {
    add(key, type_of(item));
  }
  template <class T>
  void column(std::string_view key, const std::vector<T>& list, const number_range& = {}) {
    add(key, type_of(list) + ", one for each frame");
  }
  void busy(std::string_view key, const std::vector<nanoseconds>& list,
            const std::vector<stamp_pair>&) {
    column(key, list);
  }
  void batches(std::string_view key, const std::vector<batch_record>&, std::size_t) {
    add(key, "`frames` and `ready`, a list of whole numbers each, or left out");
  }
  void type(const tensor_type& of) {
    add("shape", type_of(of.shape.extents()));
    add("dtype", "word");
  }

  std::vector<entry> list;

 private:
  void add(std::string_view key, const std::string& type) {
    list.push_back({std::string(key), type});
  }

  template <class T>
  static std::string type_of(const T& item) {
    if constexpr (part_of_a_record<T>) {
      const std::string name = heading<std::remove_const_t<T>>;
      std::string anchor = name;
      std::ranges::replace(anchor, ' ', '-');
      return "[" + name + "](#" + anchor + ")";
    } else if constexpr (std::same_as<T, bool>) {
      return "true or false";
    } else if constexpr (std::integral<T>) {
      return "whole number";
    } else if constexpr (std::floating_point<T>) {
      return "number";
    } else if constexpr (std::is_enum_v<T>) {
      return "word";
    } else if constexpr (std::same_as<T, stream_choice>) {
      return "word or number, as text";
    } else {
      static_assert(std::same_as<T, std::string>);
      return (void)item, "text";
    }
  }
  template <class T>
  static std::string type_of(const std::optional<T>&) {
    return type_of(T()) + (part_of_a_record<T> ? ", or left out" : " or `null`");
  }
  template <class T>
  static std::string type_of(const std::vector<T>&) {
    return "list of " + type_of(T());
  }
  static std::string type_of(const std::pair<std::string, std::string>&) {
    return "`[name, text]`";
  }
  static std::string type_of(const std::vector<stamp_pair>&) {
    return "`begin` and `end`, a list of whole numbers each";
  }
  static std::string type_of(const std::vector<frame_record>&) {
    return "`due`, `begin` and `end`, a list of whole numbers each";
  }
};

/// Meanings in the document by "HEADING.KEY".
std::map<std::string, std::string> meanings_in(const std::string& document) {
  std::map<std::string, std::string> meanings;
  std::istringstream lines(document);
  std::string section;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("## ")) section = line.substr(3);
    if (!line.starts_with("| `")) continue;
    const std::size_t key_end = line.find('`', 3);
    const std::size_t begin = line.rfind(" | ") + 3;
    meanings[section + "." + line.substr(3, key_end - 3)] =
        line.substr(begin, line.rfind(" |") - begin);
  }
  return meanings;
}

template <class T>
std::string table_of(const std::map<std::string, std::string>& meanings) {
  key_lister lister;
  const T record;
  fields(lister, record);
  std::string text =
      std::string("## ") + heading<T> + "\n\n| key | type | what |\n| --- | --- | --- |\n";
  for (const auto& [key, type] : lister.list) {
    const auto found = meanings.find(std::string(heading<T>) + "." + key);
    text += "| `" + key + "` | " + type + " | " + (found == meanings.end() ? "?" : found->second) +
            " |\n";
  }
  return text + "\n";
}

template <class... Records>
std::string tables_of(const std::map<std::string, std::string>& meanings) {
  return (table_of<Records>(meanings) + ...);
}

TEST(record_keys, are_those_of_the_document) {
  const std::string path = std::string(GRAPHLINE_SOURCE_DIR) + "/docs/record.md";
  std::ifstream file(path, std::ios::binary);
  const std::string document{std::istreambuf_iterator<char>(file), {}};
  ASSERT_NE(document.find("\n## "), std::string::npos) << path;
  std::string expected =
      document.substr(0, document.find("\n## ") + 1) +
      tables_of<run_record, settings, device_properties, device_record, memory_usage, source_record,
                conditions_record, standstill_record, prediction_record, predicted_figure,
                faster_stage, worst_case, longest_stage, device_change, stage_factor, policy_record,
                device_state, thread_time, load_record, calibration, ceiling_figure, stage_record,
                cost_record, bucket_record, wait_record, part_record, operation_record,
                tensor_record, graph_record, graph_node, output_record, roofline_record,
                experiment_record, experiment_settings, experiment_configuration, compared_pair,
                configuration_member, chain_record, trial_record, trial_place, search_record,
                search_limit, search_candidate, capacity_record, capacity_settings, capacity_run,
                capacity_set, ranks_record, rank_record, clock_offset, validation_record,
                validation_round, calibration_record, ceiling_record, cost_summary, stage_figures,
                bucket_figures, written_tensor, layer_figures, cost_figures>(meanings_in(document));
  expected.pop_back();  // the empty line after the last table
  if (std::getenv("GRAPHLINE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << expected;
  }
  EXPECT_EQ(document, expected) << "run with GRAPHLINE_UPDATE_GOLDEN=1, then say what keys are";
  EXPECT_EQ(expected.find("| ? |"), std::string::npos) << "say in " << path << " what it is";
}

}  // namespace
}  // namespace graphline
