// A NumPy file, as an input of a pipeline is read.

#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/file/npy_file.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace graphline;
  static const temporary_folder folder;
  static const std::string path = folder / "input.npy";
  fuzz::write(path, data, size);
  fuzz::read_or_refuse<input_error>([&] {
    npy_file file(path);
    std::vector<std::byte> numbers(file.type().bytes());
    file.read(numbers);
  });
  return 0;
}
