#include "framework/report/store/record_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "framework/base/error.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/json/calibration_json.hpp"
#include "framework/report/json/record_json.hpp"
#include "framework/report/store/result_file.hpp"

namespace graphline {

namespace {

/// In the order of `any_record`.
constexpr result_kind readable[] = {result_kinds::run, result_kinds::experiment,
                                    result_kinds::roofline, result_kinds::calibration,
                                    result_kinds::capacity};

constexpr result_kind others[] = {{"graphline.diff", "a difference of two results", "diff",
                                   "no report is made of it; name one of the two results"}};

/// Figures that were made of the record are made anew.
bool raw(std::size_t depth, std::string_view, std::string_view key) {
  constexpr std::string_view made[] = {
      "end_to_end",        "stages",     "load",     "attribution",   "comparisons", "outputs",
      "stage_comparisons", "steadiness", "findings", "configurations"};
  return depth != 1 || std::find(std::begin(made), std::end(made), key) == std::end(made);
}

json_part raw_of(const json_part& result) {
  if (auto from = result.find("record")) return *from;
  throw input_error(
      "this result does not hold what reports are made from ('record'): an earlier version of "
      "graphline wrote it, or another program; run the pipeline again with --json");
}

any_record run_of(const json_part& result) {
  return run_from(raw_of(result));
}

any_record roofline_of(const json_part& result) {
  const auto raw = raw_of(result);
  return roofline_record{run_from(raw.at("stages")), run_from(raw.at("layers"))};
}

any_record experiment_of(const json_part& result) {
  return experiment_from(raw_of(result));
}

any_record calibration_of(const json_part& result) {
  return calibration_record_from(result);
}

any_record capacity_of(const json_part& result) {
  return capacity_from(raw_of(result));
}

any_record (*const readers[])(const json_part&) = {run_of, experiment_of, roofline_of,
                                                   calibration_of, capacity_of};
static_assert(std::size(readable) == std::size(readers));

}  // namespace

any_record read_record(const std::string& path) {
  const auto file = read_result_file(path, readable, others, raw);
  const json_part result(file.content, "result");
  try {
    return readers[file.number](result);
  } catch (const input_error& problem) {
    refuse_result(path, problem.what());
  }
}

std::pair<any_record, any_record> read_records(const std::string& before,
                                               const std::string& after) {
  std::pair<any_record, any_record> records = {read_record(before), read_record(after)};
  const auto& one = readable[records.first.index()];
  const auto& other = readable[records.second.index()];
  if (records.first.index() == records.second.index()) return records;
  throw input_error(fmt::format(
      "{} holds {} ({}/1), {} holds {} ({}/1): only results of one kind can be compared; make both "
      "with 'graphline {}' or both with 'graphline {}'",
      printable(before), one.words, one.name, printable(after), other.words, other.name,
      one.command, other.command));
}

}  // namespace graphline
