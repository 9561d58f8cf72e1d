// A JPEG file, as the stage `cpu.images` reads it.

#include <vector>

#include "framework/base/error.hpp"
#include "stages/cpu/jpeg_decoder.hpp"
#include "tests/fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace graphline;
  static const temporary_folder folder;
  static const std::string path = folder / "input.jpg";
  fuzz::write(path, data, size);
  fuzz::read_or_refuse<run_error>([&] {
    constexpr int reduce = 8;  // the largest then takes 12 MiB
    const jpeg_size planned = size_of_jpeg(path, reduce);
    std::vector<std::uint8_t> pixels(planned.height * planned.width * 3);
    decode_jpeg({data, size}, path, reduce, planned, pixels.data());
  });
  return 0;
}
