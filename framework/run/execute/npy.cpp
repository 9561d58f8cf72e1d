#include "framework/run/execute/npy.hpp"

#include <fmt/format.h>

#include <string>

#include "framework/base/error.hpp"
#include "framework/base/file/output_file.hpp"

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
  const std::string head = header(type);
  try {
    output_file file(path.string(), {}, head.size() + data.size());
    file.commit([&](text_sink& to) {
      to.append(head).append({reinterpret_cast<const char*>(data.data()), data.size()});
    });
  } catch (const input_error& refused) {
    throw run_error(refused.what());  // of the command line only the folder was
  }
}

}  // namespace graphline
