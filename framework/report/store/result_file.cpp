#include "framework/report/store/result_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "framework/base/diagnostic.hpp"
#include "framework/base/text_file.hpp"
#include "framework/base/utf8.hpp"
#include "framework/base/version.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;
using kinds = std::span<const result_kind>;

constexpr std::size_t largest_result = std::size_t{1} << 30;
constexpr std::string_view version_read = "1";

std::string schemas_of(kinds read) {
  std::string text;
  for (const auto& kind : read) {
    const bool last = &kind == &read.back();
    text += fmt::format("{}{}/{}",
                        text.empty() ? ""
                        : last       ? " and "
                                     : ", ",
                        kind.name, version_read);
  }
  return text;
}

std::string schemas_read(kinds read) {
  return fmt::format("graphline {} reads {}", version(), schemas_of(read));
}

const result_kind* kind_of(std::string_view schema, kinds among) {
  const auto name = schema.substr(0, schema.rfind('/'));
  const auto found = std::find_if(among.begin(), among.end(),
                                  [&](const result_kind& kind) { return kind.name == name; });
  return found == among.end() ? nullptr : &*found;
}

/// The schema that a text of JSON, or its first line, says it has; empty where it says nothing.
std::string schema_of(const json& value) {
  if (!value.is_object()) return {};
  const auto found = value.find("schema");
  return found != value.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Trials in a file of lines are no result yet.
void refuse_trials(const std::string& path, const std::string& schema) {
  if (!schema.starts_with("graphline.trials/")) return;
  refuse_result(path,
                fmt::format("these are the trials of an experiment ({}), not its result; "
                            "'graphline compare' with --resume goes on with them, and with --json "
                            "FILE writes the result",
                            schema));
}

/// The number of the kind among `read`. Throws where `schema` is of none of them.
std::size_t checked_kind(const std::string& path, const std::string& schema, kinds read,
                         kinds refused) {
  if (schema.empty()) {
    refuse_result(path, fmt::format("this is no result: it does not say its 'schema'; {}, as "
                                    "--json writes them",
                                    schemas_read(read)));
  }
  refuse_trials(path, schema);
  if (const auto* other = kind_of(schema, refused)) {
    refuse_result(path, fmt::format("this is {} ({}); {}", other->words, schema, other->instead));
  }
  const auto* kind = kind_of(schema, read);
  if (kind == nullptr) {
    refuse_result(path, fmt::format("this is {}; {}", quote(schema), schemas_read(read)));
  }
  if (schema.substr(schema.rfind('/') + 1) != version_read || schema.find('/') == schema.npos) {
    refuse_result(path, fmt::format("this is {} of another version, {}; {}", kind->words,
                                    quote(schema), schemas_read(read)));
  }
  return static_cast<std::size_t>(kind - read.data());
}

/// What a file is instead of a result, where it does not even begin as one.
std::string what_instead(std::string_view text, kinds read) {
  const auto has_key = [&](std::string_view key) {
    return text.starts_with(key) || text.find(fmt::format("\n{}", key)) != text.npos;
  };
  if (has_key("experiment:")) {
    return "this is an experiment, not a result; 'graphline compare' with --json FILE makes one";
  }
  if (has_key("pipeline:")) {
    return "this is a pipeline, not a result; 'graphline run' with --json FILE makes one";
  }
  return "this is no result; " + schemas_read(read) + ", as --json writes them";
}

[[noreturn]] void refuse_broken(const std::shared_ptr<const source_text>& source, kinds read,
                                const json_error& problem) {
  const std::string_view text = source->text();
  refuse_trials(source->name(), schema_of(find_json(source->line(1)).value_or(json())));
  if (text[std::min(text.find_first_not_of(" \t\r\n"), text.size() - 1)] != '{') {
    refuse_result(source->name(), what_instead(text, read));
  }
  // The place is that of the last byte read, counted from 1.
  const auto at = std::min(std::max<std::size_t>(problem.byte(), 1) - 1, text.size());
  const auto before = text.substr(0, at);
  const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  const auto column = at - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0: the first line
  diagnostic broken;
  broken.place = {source, line, column, 1};
  broken.message = fmt::format("this is not JSON as 'graphline {} --json' writes it: {}",
                               read.front().command, problem.what());
  throw input_error(broken.render());
}

json parsed(const std::shared_ptr<const source_text>& source, kinds read, wanted_key wanted) {
  try {
    return read_json(source->text(), wanted);
  } catch (const json_error& problem) {
    refuse_broken(source, read, problem);
  }
}

}  // namespace

result_file read_result_file(const std::string& path, kinds read, kinds refused,
                             wanted_key wanted) {
  result_file file;
  file.content = parsed(read_text_file(path, largest_result), read, wanted);
  file.schema = schema_of(file.content);
  file.number = checked_kind(path, file.schema, read, refused);
  return file;
}

void refuse_result(const std::string& path, std::string_view message) {
  throw input_error(fmt::format("{}: error: {}", printable(path), printable(message)));
}

}  // namespace graphline
