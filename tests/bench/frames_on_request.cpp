// Blocks of frames for a program that takes turns with others: makes each pipeline ready once, then
// runs a block of each for every line of standard input. Prints an object of JSON a line: what is
// ready, the end-to-end milliseconds of each block, and the end of each round.
//
//   frames_on_request PIPELINE.yaml... [--device DEVICE] [--frames N] [--warmup N]
//
// For a GPU the host waits by polling, as PyTorch's synchronize() does unless told otherwise.

#include <deque>
#include <iostream>
#include <nlohmann/json.hpp>

#include "stages/builtin.hpp"
#include "tests/bench/program.hpp"

namespace {

using namespace graphline;
using nlohmann::ordered_json;

struct settings_given {
  std::vector<std::string> pipelines;
  std::string device = "auto";
  std::int64_t frames = 15;
  std::int64_t warmup = 5;
};

void tell(const ordered_json& what) {
  std::printf("%s\n", what.dump().c_str());
  std::fflush(stdout);
}

void serve(const settings_given& given) {
  const auto device = builtin_devices().open({.name = given.device});
  const stage_registry stages = builtin_stages();
  const auto as_pytorch_waits = [&](settings& run) {
    if (device->properties().backend == "cuda") run.wait = wait_mode::spin;
  };
  const auto block = [&](session& s) { return block_of_frames(s, given.frames, given.warmup); };
  std::deque<session> sessions;
  for (const std::string& path : given.pipelines) {
    sessions.push_back(session_of_file(path, *device, stages, as_pytorch_waits));
    block(sessions.back());
  }
  tell({{"ready", given.pipelines}, {"device", device->properties().name}, {"unit", "ms"}});
  std::string request;
  for (std::int64_t round = 0; std::getline(std::cin, request); ++round) {
    for (std::size_t i = 0; i < sessions.size(); ++i) {
      tell({{"round", round}, {"pipeline", given.pipelines[i]}, {"ms", block(sessions[i])}});
    }
    tell({{"round_done", round}});
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App program("Runs blocks of frames when it is asked to");
  settings_given given;
  program.add_option("PIPELINE.yaml", given.pipelines, "The pipelines")->required();
  program.add_option("--device", given.device, "auto, host, cuda or cuda:N");
  program.add_option("--frames", given.frames, "Frames of a block")->check(CLI::PositiveNumber);
  program.add_option("--warmup", given.warmup, "Frames before each block that do not count")
      ->check(CLI::NonNegativeNumber);
  return run_program(program, argc, argv, [&] {
    serve(given);
    return 0;
  });
}
