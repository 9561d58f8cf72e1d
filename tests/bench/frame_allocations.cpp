// How often a frame allocates by operator new, on any thread of the host, under each timing method:
// what a hundred frames more allocate, after a run that has warmed everything up. Prints JSON.
//
//   frame_allocations PIPELINE.yaml [--device DEVICE]

#include <nlohmann/json.hpp>

#include "stages/builtin.hpp"
#include "tests/bench/program.hpp"
#include "tests/run/counted_new.hpp"

namespace {

using namespace graphline;

long allocations_of(session& s, timing_method method, std::int64_t frames) {
  const long before = counted_new::allocations;
  const run_record record = record_of(s, {.timing = method, .frames = frames, .warmup = 2});
  return counted_new::allocations - before;
}

nlohmann::ordered_json count(const std::string& path, const std::string& device_name) {
  const auto d = builtin_devices().open({.name = device_name});
  const stage_registry stages = builtin_stages();
  session s = session_of_file(path, *d, stages);
  nlohmann::ordered_json result = {{"schema", "graphline.frame_allocations/1"},
                                   {"device", d->properties().name},
                                   {"pipeline", s.planned().pipeline}};
  for (const auto& [word, method] : timing_method_words) {
    allocations_of(s, method, 10);
    const long few = allocations_of(s, method, 10);
    result["of_100_frames"][std::string(word)] = allocations_of(s, method, 110) - few;
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App program("How often a frame of a pipeline allocates on the host");
  std::string path;
  std::string device = "auto";
  program.add_option("PIPELINE.yaml", path, "The pipeline")->required();
  program.add_option("--device", device, "auto, host, cuda or cuda:N");
  return run_program(program, argc, argv, [&] {
    std::printf("%s\n", count(path, device).dump(1).c_str());
    return 0;
  });
}
