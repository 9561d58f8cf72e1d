// Compares the resources of a long run with those of a short one, besides the record: bytes per
// frame, file descriptors and threads, without timing and with events, with 1 and 4 frames in
// flight. Exit status 1 if one grows.
//
//   soak PIPELINE.yaml [--frames N] [--few N] [--device DEVICE]

#include <fmt/format.h>
#include <malloc.h>

#include <filesystem>
#include <iterator>
#include <string>

#include "framework/base/words.hpp"
#include "stages/builtin.hpp"
#include "tests/bench/program.hpp"

namespace {

using namespace graphline;

struct settings_given {
  std::string path;
  std::string device = "auto";
  std::int64_t frames = 1'000'000;
  std::int64_t few = 10'000;
};

/// The resources of this process.
struct holding {
  double bytes = 0;  ///< of the heap
  std::int64_t descriptors = 0;
  std::int64_t threads = 0;
};

std::int64_t entries(const char* folder) {
  namespace fs = std::filesystem;
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

holding held_now() {
  const auto heap = mallinfo2();
  return {.bytes = static_cast<double>(heap.uordblks + heap.hblkhd),
          .descriptors = entries("/proc/self/fd"),
          .threads = entries("/proc/self/task")};
}

/// The resources after a run, with its record and without it.
struct run_left {
  double bytes_per_frame = 0;  ///< of the record
  holding after;
};

run_left run_once(session& s, timing_method method, std::int64_t frames) {
  const double before = held_now().bytes;
  run_left left;
  {
    const run_record record = record_of(s, {.timing = method, .frames = frames, .warmup = 10});
    left.bytes_per_frame = (held_now().bytes - before) / static_cast<double>(frames);
  }
  left.after = held_now();
  return left;
}

/// Prints a row of the table; true if many frames leave no more than few.
bool compare(session& s, timing_method method, const settings_given& given) {
  run_once(s, method, given.few);  // a first run allocates what stays
  const run_left few = run_once(s, method, given.few);
  const run_left many = run_once(s, method, given.frames);
  const double kept = many.after.bytes - few.after.bytes;
  fmt::print("{:<7}{:>10}{:>14.1f}{:>14.1f}{:>14.0f}{:>8} -> {:<3}{:>6} -> {:<3}\n",
             to_word(method), s.planned().run.in_flight, few.bytes_per_frame, many.bytes_per_frame,
             kept, few.after.descriptors, many.after.descriptors, few.after.threads,
             many.after.threads);
  std::fflush(stdout);
  // Any leaked object takes far more than a hundredth of a byte per frame.
  const double frames = static_cast<double>(given.frames);
  return many.bytes_per_frame <= few.bytes_per_frame + 1 && kept <= 0.01 * frames + 65'536 &&
         many.after.descriptors == few.after.descriptors && many.after.threads == few.after.threads;
}

bool soak(const settings_given& given) {
  const auto device = builtin_devices().open({.name = given.device});
  const stage_registry stages = builtin_stages();
  fmt::print("{} on {}: {} frames, then {}\n", given.path, device->properties().name, given.few,
             given.frames);
  fmt::print("{:<7}{:>10}{:>28}{:>14}{:>15}{:>13}\n", "timing", "in flight",
             "record, bytes per frame", "kept, bytes", "descriptors", "threads");
  bool steady = true;
  for (const std::int64_t in_flight : {1, 4}) {
    session s = session_of_file(given.path, *device, stages,
                                [&](settings& run) { run.in_flight = in_flight; });
    for (const auto method : {timing_method::none, timing_method::event}) {
      steady = compare(s, method, given) && steady;
    }
  }
  fmt::print("{}\n", steady ? "nothing grows with the frames but their record"
                            : "error: something grows with the frames");
  return steady;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App program("Whether a long run holds more than a short one");
  settings_given given;
  program.add_option("PIPELINE.yaml", given.path, "The pipeline")->required();
  program.add_option("--frames", given.frames, "Of the long run")->check(CLI::PositiveNumber);
  program.add_option("--few", given.few, "Of the short run")->check(CLI::PositiveNumber);
  program.add_option("--device", given.device, "auto, host, cuda or cuda:N");
  return run_program(program, argc, argv, [&] { return soak(given) ? 0 : 1; });
}
