#include "framework/report/store/calibration_reader.hpp"

#include <string_view>

#include "framework/base/error.hpp"
#include "framework/report/json/calibration_json.hpp"
#include "framework/report/store/result_file.hpp"

namespace graphline {

namespace {

constexpr result_kind readable[] = {result_kinds::calibration};

/// Of results of other kinds a little is enough to tell what they are.
bool of_a_calibration(std::size_t depth, std::string_view, std::string_view key) {
  return depth != 1 || (key != "record" && key != "trials");
}

}  // namespace

calibration_record read_calibration(const std::string& path) {
  const auto file = read_result_file(path, readable, {}, of_a_calibration);
  try {
    return calibration_record_from(json_part(file.content, "calibration"));
  } catch (const input_error& problem) {
    refuse_result(path, problem.what());
  }
}

}  // namespace graphline
