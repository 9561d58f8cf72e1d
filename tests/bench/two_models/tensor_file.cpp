#include "tests/bench/two_models/tensor_file.hpp"

#include <cstdint>
#include <fstream>
#include <sstream>

#include "tests/bench/two_models/check.hpp"

namespace two_models {

tensor_file read_tensor(const std::string& folder, const std::string& name) {
  const std::string path = folder + "/" + name + ".npy";
  std::ifstream file(path, std::ios::binary);
  require(file.is_open(),
          path + " cannot be read; make it with graphline run --save-tensors " + folder);
  // Eight bytes of magic and version, two of the header's length, the header, the elements.
  std::string beginning(10, '\0');
  file.read(beginning.data(), 10);
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(beginning[i]); };
  std::string header(static_cast<std::size_t>(byte(8) + 256 * byte(9)), '\0');
  file.read(header.data(), static_cast<std::streamsize>(header.size()));
  require(file.good() && header.find("'descr': '<f4'") != std::string::npos,
          path + " is no NumPy file of float32");

  tensor_file result;
  std::istringstream extents(header.substr(header.find("'shape': (") + 10));
  std::size_t count = 1;
  for (int extent = 0; extents >> extent; extents.ignore(1)) {
    result.shape.push_back(extent);
    count *= static_cast<std::size_t>(extent);
  }
  result.values.resize(count);
  const auto bytes = static_cast<std::streamsize>(count * sizeof(float));
  file.read(reinterpret_cast<char*>(result.values.data()), bytes);
  require(file.gcount() == bytes, path + " ends before its last element");
  return result;
}

}  // namespace two_models
