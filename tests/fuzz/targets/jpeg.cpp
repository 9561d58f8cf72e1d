// A JPEG file, as the stage `cpu.images` reads it.

#include "framework/base/error.hpp"
#include "stages/kinds.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/stages/cpu/stage_trial.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace graphline;
  static const temporary_folder folder;
  static const std::string path = folder.path() / "input.jpg";
  fuzz::write(path, data, size);
  static stage_trial stage(images_kind(),
                           "{folder: " + folder.path().string() + ", size: [24, 32], batch: 1}");
  fuzz::read_or_refuse<run_error>([&] { stage.run(); });
  return 0;
}
