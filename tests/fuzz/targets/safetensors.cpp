// A file of weights, as a network reads its tensors.

#include "stages/nn/weights/safetensors.hpp"

#include "framework/base/error.hpp"
#include "tests/fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace graphline;
  using namespace graphline::nn;
  static const temporary_folder folder;
  static const std::string path = folder.path() / "input.safetensors";
  fuzz::write(path, data, size);
  fuzz::read_or_refuse<input_error>([&] {
    safetensors_file file(path);
    file.why_not_float32("linear.weight", shape{3, 4});
    for (const auto& entry : file.entries()) {
      fuzz::read_or_refuse<input_error>(
          [&] { file.read_float32(entry.first, entry.second.shape); });
    }
  });
  return 0;
}
