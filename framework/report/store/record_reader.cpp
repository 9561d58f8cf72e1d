#include "framework/report/store/record_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "framework/analysis/experiment/experiment_labels.hpp"
#include "framework/base/diagnostic.hpp"
#include "framework/base/json_reader.hpp"
#include "framework/base/utf8.hpp"
#include "framework/base/version.hpp"
#include "framework/report/json/record_json.hpp"
#include "framework/report/store/trial_store.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

/// Throws an error that names the file without a line number.
[[noreturn]] void refuse_result(const std::string& path, std::string_view message) {
  throw input_error(fmt::format("{}: error: {}", printable(path), printable(message)));
}

constexpr std::size_t largest_result = std::size_t{1} << 30;
constexpr std::string_view version_read = "1";

std::string schemas_read() {
  std::vector<std::string> schemas;
  for (const auto& kind : result_kinds) {
    schemas.push_back(fmt::format("{}/{}", kind.name, version_read));
  }
  return fmt::format("graphline {} reads {}", version(), listed(schemas, schemas.size()));
}

std::string schema_of(const json& value) {
  if (!value.is_object()) return {};
  const auto found = value.find("schema");
  return found != value.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Returns the index into `result_kinds`. @throws input_error for an unknown schema
std::size_t checked_kind(const std::string& path, const std::string& schema) {
  for (std::size_t kind = 0; kind < std::size(result_kinds); ++kind) {
    if (schema == fmt::format("{}/{}", result_kinds[kind].name, version_read)) return kind;
  }
  refuse_result(path, fmt::format("{}; {}, as --json writes them",
                                  schema.empty() ? "this is no result: it does not say its 'schema'"
                                                 : "this is " + quote(schema),
                                  schemas_read()));
}

/// Returns " (graphline 0.1.0 wrote it)"; empty if the result names no version.
std::string writer_of(const json& result) {
  const json::json_pointer place("/environment/graphline");
  if (!result.contains(place) || !result[place].is_string()) return {};
  return fmt::format(" (graphline {} wrote it)", result[place].get_ref<const std::string&>());
}

[[noreturn]] void refuse_broken(const std::shared_ptr<const source_text>& source,
                                const json_error& problem) {
  const std::string_view text = source->text();
  // byte() is the number of bytes read, including the wrong one.
  const auto at = std::min(std::max<std::size_t>(problem.byte(), 1) - 1, text.size());
  const auto before = text.substr(0, at);
  const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  const auto column = at - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0, as line 1 needs
  diagnostic broken;
  broken.place = {source, line, column, 1};
  broken.message = fmt::format("this is not JSON as --json writes it: {}", problem.what());
  throw input_error(broken.render());
}

}  // namespace

any_record read_record(const std::string& path, named_by who) {
  return read_record(read_text_file(path, largest_result, who));
}

any_record read_record(const std::shared_ptr<const source_text>& source) {
  const std::string& path = source->name();
  if (begins_trial_store(source->text())) {
    refuse_result(path,
                  "these are the trials of an experiment, not its result; the same 'graphline "
                  "compare' with --resume --json FILE writes that");
  }
  const auto first = source->text().find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && source->text()[first] != '{') {
    refuse_result(path,
                  "this is no result: results are JSON files that --json writes; 'graphline run' "
                  "takes a pipeline, 'graphline compare' an experiment");
  }
  json content;
  try {
    content = read_json(source->text());
  } catch (const json_error& problem) {
    refuse_broken(source, problem);
  }
  const auto kind = checked_kind(path, schema_of(content));
  try {
    const json_part result(content, "result");
    return record_from(kind, result_kinds[kind].bare ? result : result.at("record"));
  } catch (const missing_key& problem) {
    refuse_result(path, fmt::format("{}{}; make it again with 'graphline {}'", problem.what(),
                                    writer_of(content), result_kinds[kind].command));
  } catch (const input_error& problem) {
    refuse_result(path, problem.what());
  }
}

std::string commands_read() {
  std::vector<std::string> commands;
  for (const auto& kind : result_kinds) {
    const auto first = std::ranges::find(result_kinds, kind.command, &result_kind::command);
    if (first == &kind) commands.push_back(fmt::format("{}{}", kind.command, kind.also));
  }
  const std::string last = commands.back();
  commands.pop_back();
  return fmt::format("{} or {}", fmt::join(commands, ", "), last);
}

calibration_record read_calibration(const std::string& path) {
  auto read = read_record(path, named_by::file);
  if (auto* calibration = std::get_if<calibration_record>(&read)) return std::move(*calibration);
  refuse_result(path, fmt::format("this is {}, not a calibration; make one with 'graphline "
                                  "calibrate'",
                                  result_kinds[read.index()].words));
}

std::pair<any_record, any_record> read_records(const std::string& before,
                                               const std::string& after) {
  std::pair<any_record, any_record> records = {read_record(before), read_record(after)};
  const auto& one = result_kinds[records.first.index()];
  const auto& other = result_kinds[records.second.index()];
  if (records.first.index() == records.second.index()) return records;
  throw input_error(fmt::format(
      "{} holds {} ({}/1), {} holds {} ({}/1): only results of one kind can be compared; make both "
      "with 'graphline {}' or both with 'graphline {}'",
      printable(before), one.words, one.name, printable(after), other.words, other.name,
      one.command, other.command));
}

}  // namespace graphline
