// Writes traces of made-up runs into a folder, for trace_test.py: what real runs do not show at
// will.
//
//   sample_traces FOLDER

#include <fstream>
#include <string>

#include "framework/report/trace/trace_json.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/report/result_texts.hpp"

namespace graphline {
namespace {

run_record with_odd_names() {
  const std::string odd = "a \"b\" <c>&amp;\n\t\\ 画像 🙂 </script>";
  auto record = samples::two_models_in_parts(3);
  record.pipeline = odd;
  record.device.name = odd;
  record.threads = {odd};
  for (auto& stage : record.stages) {
    stage.name += odd;
    stage.kind += odd;
    if (stage.on == side::device) stage.stream += odd;
    for (auto& part : stage.parts) part.name += odd;
  }
  return record;
}

/// Stamps that the error of the clock has put in the wrong order, and work that took no time.
run_record with_contradictions() {
  auto record = samples::two_models_in_parts(4);
  auto& backbone = record.stages[0];
  auto& head = record.stages[2];
  backbone.device[0].end = head.device[0].begin + 40;
  backbone.parts[1].device[1].end += 60;
  backbone.parts[0].device[2].begin -= 60;
  head.device[2].end = head.device[2].begin;
  head.device[3].begin = head.enqueued[3].begin - 70;
  return record;
}

/// Also of frames that were due before the run began.
run_record on_schedule() {
  return samples::two_models_on_schedule(30);
}

}  // namespace
}  // namespace graphline

int main(int count, char** arguments) {
  if (count != 2) return 2;
  using namespace graphline;
  const std::string folder = arguments[1];
  const auto write = [&](const char* name, const run_record& record) {
    std::ofstream file(folder + "/" + name + ".json", std::ios::binary);
    file << trace_json(record);
    return static_cast<bool>(file.flush());
  };
  const bool written = write("odd_names", with_odd_names()) &&
                       write("contradictions", with_contradictions()) &&
                       write("on_schedule", on_schedule()) &&
                       write("no_frames", samples::two_models(timing_method::event, 0));
  return written ? 0 : 1;
}
