#include "framework/report/store/result_reader.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string_view>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/store/result_file.hpp"
#include "framework/report/store/saved_readers.hpp"

namespace graphline {

namespace {

constexpr result_kind readable[] = {result_kinds::run, result_kinds::experiment,
                                    result_kinds::calibration, result_kinds::roofline};

saved_result (*const readers[])(const json_part&) = {
    [](const json_part& /*result*/) -> saved_result { return saved_document(); },
    [](const json_part& result) -> saved_result { return saved_experiment_of(result); },
    [](const json_part& /*result*/) -> saved_result { return saved_document(); },
    [](const json_part& /*result*/) -> saved_result { return saved_document(); }};
static_assert(std::size(readable) == std::size(readers));

/// Raw samples are most of a file, and nobody looks at them here but at the frames of trials. Of a
/// record only its source is read.
bool compared(std::size_t depth, std::string_view section, std::string_view key) {
  if (depth == 1) return true;
  if (section == "record") {
    return key == "source" || key == "file" || key == "text";
  }
  if (section != "trials") return true;
  return key != "stages" && key != "graphs" && key != "tensors" && key != "launches";
}

const result_kind& kind_of(const std::string& schema) {
  const auto name = std::string_view(schema).substr(0, schema.rfind('/'));
  const result_kind* kind = readable;
  while (kind->name != name) ++kind;
  return *kind;
}

const saved_origin& origin_of(const saved_result& result) {
  return std::visit([](const auto& r) -> const saved_origin& { return r.origin; }, result);
}

}  // namespace

saved_result read_result(const std::string& path) {
  const auto file = read_result_file(path, readable, {}, compared);
  try {
    auto result = readers[file.number](json_part(file.content, "result"));
    std::visit(
        [&](auto& r) {
          r.origin.file = path;
          r.origin.schema = file.schema;
        },
        result);
    return result;
  } catch (const input_error& problem) {
    refuse_result(path, problem.what());
  }
}

before_after<saved_result> read_results(const std::string& before, const std::string& after) {
  before_after<saved_result> results = {read_result(before), read_result(after)};
  const auto& first = origin_of(results.before);
  const auto& second = origin_of(results.after);
  if (first.schema != second.schema) {
    const auto& one = kind_of(first.schema);
    const auto& other = kind_of(second.schema);
    throw input_error(fmt::format(
        "{} holds {} ({}), {} holds {} ({}): only results of one kind can be compared; make both "
        "with 'graphline {}' or both with 'graphline {}'",
        printable(before), one.words, first.schema, printable(after), other.words, second.schema,
        one.command, other.command));
  }
  return results;
}

}  // namespace graphline
