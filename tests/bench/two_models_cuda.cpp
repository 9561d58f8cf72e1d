// pipelines/two_models.yaml on a GPU, by Graphline and by a program written by hand without it: the
// same frames in turns, a block of each, in one process. Prints every frame's end-to-end time as
// JSON; what it was told on standard error is for people.
//
//   two_models_cuda --tensors DIR --pipeline FILE [--precision P] [--frames N] [--warmup N]
//                   [--blocks N] [--no-cpu-work]
//
// DIR is what `graphline run FILE --device cuda --save-tensors DIR` wrote: image and weights come
// from there, and the batch with them. Both sides launch the first network, draw the normal numbers
// while it runs, launch the second and wait for it asleep, each on the clock of the host.

#include <cmath>
#include <nlohmann/json.hpp>

#include "framework/base/clock.hpp"
#include "framework/base/random.hpp"
#include "stages/builtin.hpp"
#include "tests/bench/program.hpp"
#include "tests/bench/two_models/check.hpp"
#include "tests/bench/two_models/hand_written.hpp"
#include "tests/bench/two_models/tensor_file.hpp"

namespace {

using namespace graphline;
using nlohmann::ordered_json;

struct settings_given {
  std::string tensors;
  std::string pipeline;
  std::string precision = "float32";
  std::int64_t frames = 25;
  std::int64_t warmup = 5;
  std::int64_t blocks = 20;
  bool no_cpu_work = false;
};

/// The CPU work between the networks, as cpu.random_normal does it: the same numbers, made the same
/// way.
class normal_numbers {
 public:
  normal_numbers() : draws_(count) {
    void* pinned = nullptr;
    check(cudaMallocHost(&pinned, count * sizeof(float)), "cudaMallocHost");
    values_ = static_cast<float*>(pinned);
  }

  void draw(std::uint64_t frame) {
    generator_.seed(mix_seed(1, frame));
    generator_.fill(draws_);
    for (std::size_t i = 0; i < count; ++i) values_[i] = static_cast<float>(draws_[i]) * 32.0F;
  }

 private:
  static constexpr std::size_t count = std::size_t{3} * 512 * 512;
  normal_generator generator_;
  std::vector<double> draws_;
  float* values_ = nullptr;
};

/// End-to-end milliseconds of each frame.
std::vector<double> block_by_hand(two_models::hand_written& networks, normal_numbers& numbers,
                                  const settings_given& given) {
  std::vector<double> times;
  for (std::int64_t frame = 0; frame < given.warmup + given.frames; ++frame) {
    const nanoseconds begin = now();
    networks.launch_backbone();
    if (!given.no_cpu_work) numbers.draw(static_cast<std::uint64_t>(frame));
    networks.launch_head();
    networks.wait();
    const nanoseconds end = now();
    if (frame >= given.warmup) times.push_back(static_cast<double>(end - begin) * 1e-6);
  }
  return times;
}

/// |a - b| / |b| in the Euclidean norm.
double relative_error(const std::vector<float>& a, const std::vector<float>& b) {
  require(a.size() == b.size(), "the score has another shape than the pipeline's");
  double difference = 0;
  double size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - b[i], 2);
    size += std::pow(static_cast<double>(b[i]), 2);
  }
  return std::sqrt(difference / size);
}

void compare(const settings_given& given) {
  const auto wanted = from_word<precision>(given.precision);
  require(wanted.has_value(),
          "--precision " + given.precision + ": expected float32, tf32, float16 or bfloat16");
  const auto gpu = builtin_devices().open({.name = "cuda"});
  const stage_registry stages = builtin_stages();
  session with_graphline = session_of_file(given.pipeline, *gpu, stages);
  const auto by_hand = two_models::make_hand_written(given.tensors, *wanted);
  normal_numbers numbers;
  std::fprintf(stderr, "by hand: %s\n", by_hand->choices().c_str());

  ordered_json graphline_blocks = ordered_json::array();
  ordered_json hand_blocks = ordered_json::array();
  const auto run_graphline = [&] {
    graphline_blocks.push_back(block_of_frames(with_graphline, given.frames, given.warmup));
  };
  const auto run_by_hand = [&] { hand_blocks.push_back(block_by_hand(*by_hand, numbers, given)); };
  for (std::int64_t block = 0; block < given.blocks; ++block) {
    // Neither always comes first: what the one leaves behind meets the other as often.
    if (block % 2 == 0) {
      run_graphline();
      run_by_hand();
    } else {
      run_by_hand();
      run_graphline();
    }
  }
  const auto expected = two_models::read_tensor(given.tensors, "output.score");
  const ordered_json result = {{"schema", "graphline.two_models_cuda/1"},
                               {"device", gpu->properties().name},
                               {"precision", given.precision},
                               {"batch", expected.shape.at(0)},
                               {"cpu_work", !given.no_cpu_work},
                               {"unit", "ms"},
                               {"by_hand_choices", by_hand->choices()},
                               {"by_hand_error", relative_error(by_hand->score(), expected.values)},
                               {"graphline", graphline_blocks},
                               {"by_hand", hand_blocks}};
  std::printf("%s\n", result.dump(1).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  settings_given given;
  CLI::App program("two_models on a GPU: Graphline beside a program written by hand");
  program.add_option("--tensors", given.tensors, "Folder that graphline run --save-tensors wrote")
      ->required();
  program.add_option("--pipeline", given.pipeline, "The pipeline file, of that precision")
      ->required();
  program.add_option("--precision", given.precision, "float32, tf32, float16 or bfloat16");
  program.add_option("--frames", given.frames, "Frames of a block")->check(CLI::PositiveNumber);
  program.add_option("--warmup", given.warmup, "Frames before each block that do not count");
  program.add_option("--blocks", given.blocks, "Blocks of each")->check(CLI::PositiveNumber);
  program.add_flag("--no-cpu-work", given.no_cpu_work, "By hand: the networks alone");
  return run_program(program, argc, argv, [&] {
    compare(given);
    return 0;
  });
}
