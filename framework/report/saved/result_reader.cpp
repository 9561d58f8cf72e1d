#include "framework/report/saved/result_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "framework/base/diagnostic.hpp"
#include "framework/base/text_file.hpp"
#include "framework/base/utf8.hpp"
#include "framework/base/version.hpp"
#include "framework/report/saved/saved_readers.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t largest_result = std::size_t{1} << 30;

struct result_kind {
  std::string_view name;  ///< of its schema, before the version
  std::string_view words;
  std::string_view command;  ///< that writes it
  saved_result (*read)(const json_part&);
};

constexpr result_kind kinds[] = {
    {"graphline.run", "a run", "run",
     [](const json_part& result) -> saved_result { return saved_run_of(result); }},
    {"graphline.overhead", "a comparison of timing methods", "overhead",
     [](const json_part& result) -> saved_result { return saved_overhead_of(result); }},
    {"graphline.experiment", "an experiment", "compare",
     [](const json_part& result) -> saved_result { return saved_experiment_of(result); }}};

constexpr std::string_view version_read = "1";

/// Everything that is wrong with a file as a whole reads alike.
[[noreturn]] void refuse(const std::string& path, std::string_view message) {
  throw input_error(fmt::format("{}: error: {}", printable(path), printable(message)));
}

std::string schemas_read() {
  std::string text;
  for (const auto& kind : kinds) {
    const bool last = &kind == std::end(kinds) - 1;
    text += fmt::format("{}{}/{}",
                        text.empty() ? ""
                        : last       ? " and "
                                     : ", ",
                        kind.name, version_read);
  }
  return fmt::format("graphline {} reads {}", version(), text);
}

const result_kind* kind_of(std::string_view schema) {
  const auto name = schema.substr(0, schema.rfind('/'));
  const auto* found = std::find_if(std::begin(kinds), std::end(kinds),
                                   [&](const result_kind& kind) { return kind.name == name; });
  return found == std::end(kinds) ? nullptr : found;
}

/// The schema that a text of JSON, or its first line, says it has; empty where it says nothing.
std::string schema_of(const json& value) {
  if (!value.is_object()) return {};
  const auto found = value.find("schema");
  return found != value.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Throws where `schema` is not one that is read. Trials in a file of lines are no result yet.
const result_kind& checked_kind(const std::string& path, const std::string& schema) {
  if (schema.empty()) {
    refuse(path, fmt::format("this is no result: it does not say its 'schema'; {}, as --json "
                             "writes them",
                             schemas_read()));
  }
  if (schema.starts_with("graphline.trials/")) {
    refuse(path, fmt::format("these are the trials of an experiment ({}), not its result; "
                             "'graphline compare' with --resume goes on with them, and with --json "
                             "FILE writes the result",
                             schema));
  }
  const auto* kind = kind_of(schema);
  if (kind == nullptr) refuse(path, fmt::format("this is {}; {}", quote(schema), schemas_read()));
  if (schema.substr(schema.rfind('/') + 1) != version_read || schema.find('/') == schema.npos) {
    refuse(path, fmt::format("this is {} of another version, {}; {}", kind->words, quote(schema),
                             schemas_read()));
  }
  return *kind;
}

/// What nlohmann's parser says without its own number and position.
std::string reason_of(std::string_view what) {
  constexpr std::string_view dash = " - ";
  const auto at = what.find(dash);
  auto reason = at == what.npos ? what : what.substr(at + dash.size());
  if (reason.starts_with("unexpected end of input")) return "the file ends too early";
  return std::string(reason);
}

/// Samples of stages and nodes of graphs are most of an experiment's file, and nobody looks at
/// them here.
class trial_filter {
 public:
  bool operator()(int depth, json::parse_event_t event, const json& parsed) {
    if (event != json::parse_event_t::key) return true;
    if (depth == 1) in_trials_ = parsed == "trials";
    return !in_trials_ || depth < 2 || (parsed != "stages" && parsed != "graphs");
  }

 private:
  bool in_trials_ = false;
};

[[noreturn]] void refuse_broken(const std::shared_ptr<const source_text>& source,
                                const json::parse_error& problem) {
  const std::string_view text = source->text();
  const auto first_line = json::parse(source->line(1), nullptr, false);
  if (const auto schema = schema_of(first_line); schema.starts_with("graphline.trials/")) {
    checked_kind(source->name(), schema);
  }
  // The place is that of the last byte read, counted from 1.
  const auto at = std::min(std::max<std::size_t>(problem.byte, 1) - 1, text.size());
  const auto before = text.substr(0, at);
  const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  const auto column = at - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0: the first line
  diagnostic broken;
  broken.place = {source, line, column, 1};
  broken.message = fmt::format("this is not JSON as 'graphline run --json' writes it: {}",
                               reason_of(problem.what()));
  throw input_error(broken.render());
}

json parsed(const std::shared_ptr<const source_text>& source) {
  try {
    return json::parse(source->text(), trial_filter());
  } catch (const json::parse_error& problem) {
    refuse_broken(source, problem);
  } catch (const json::out_of_range&) {
    refuse(source->name(), "a number in it is larger than any that a result can hold");
  }
}

const saved_origin& origin_of(const saved_result& result) {
  return std::visit([](const auto& r) -> const saved_origin& { return r.origin; }, result);
}

}  // namespace

saved_result read_result(const std::string& path) {
  const json content = parsed(read_text_file(path, largest_result));
  const auto schema = schema_of(content);
  const auto& kind = checked_kind(path, schema);
  try {
    auto result = kind.read(json_part(content, "result"));
    std::visit(
        [&](auto& r) {
          r.origin.file = path;
          r.origin.schema = schema;
        },
        result);
    return result;
  } catch (const input_error& problem) {
    refuse(path, problem.what());
  }
}

before_after<saved_result> read_results(const std::string& before, const std::string& after) {
  before_after<saved_result> results = {read_result(before), read_result(after)};
  const auto& first = origin_of(results.before);
  const auto& second = origin_of(results.after);
  if (first.schema != second.schema) {
    throw input_error(fmt::format(
        "{} holds {} ({}), {} holds {} ({}): only results of one kind can be compared; make both "
        "with 'graphline {}' or both with 'graphline {}'",
        printable(before), kind_of(first.schema)->words, first.schema, printable(after),
        kind_of(second.schema)->words, second.schema, kind_of(first.schema)->command,
        kind_of(second.schema)->command));
  }
  return results;
}

}  // namespace graphline
