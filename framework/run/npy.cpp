#include "framework/run/npy.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "framework/base/error.hpp"

namespace graphline {
namespace {

const char* numpy_name(dtype type) {
  switch (type) {
    case dtype::float32:
      return "<f4";
    case dtype::float64:
      return "<f8";
    case dtype::float16:
      return "<f2";
    case dtype::bfloat16:
      return "<u2";
    case dtype::int64:
      return "<i8";
    case dtype::int32:
      return "<i4";
    case dtype::uint8:
      return "|u1";
  }
  return "";
}

std::string header(const tensor_type& type) {
  std::string extents;
  for (const auto e : type.shape.extents()) extents += fmt::format("{}, ", e);
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                 numpy_name(type.element), extents);
  // Magic, version and length take 10 bytes; the data starts at a multiple of 64.
  const std::size_t padding = 63 - (10 + text.size()) % 64;
  text += std::string(padding, ' ') + '\n';
  std::string whole("\x93NUMPY\x01\x00", 8);
  whole += static_cast<char>(text.size() & 0xff);
  whole += static_cast<char>(text.size() >> 8);
  return whole + text;
}

}  // namespace

void write_npy(const std::filesystem::path& path, const tensor_type& type,
               std::span<const std::byte> data) {
  std::ofstream file(path, std::ios::binary);
  const std::string head = header(type);
  file.write(head.data(), static_cast<std::streamsize>(head.size()));
  file.write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
  file.close();
  if (!file) {
    throw run_error(fmt::format("{}: cannot write: {}", path.string(), std::strerror(errno)));
  }
}

}  // namespace graphline
