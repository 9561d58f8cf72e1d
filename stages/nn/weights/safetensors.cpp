#include "stages/nn/weights/safetensors.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "framework/base/diagnostic.hpp"
#include "framework/base/error.hpp"
#include "framework/base/json_reader.hpp"
#include "framework/base/text_file.hpp"
#include "framework/base/utf8.hpp"
#include "stages/nn/weights/float_conversion.hpp"

namespace graphline::nn {
namespace {

using json = nlohmann::ordered_json;

/// The format's limit on the header, in bytes.
constexpr std::uint64_t largest_header = 100'000'000;

/// Limit far above the rank of any tensor.
constexpr std::size_t most_extents = 64;

/// Bytes per element of the format's types.
const std::map<std::string, std::uint64_t, std::less<>> bytes_per_element = {
    {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1},
    {"I16", 2},  {"U16", 2}, {"F16", 2}, {"BF16", 2},    {"I32", 4},
    {"U32", 4},  {"F32", 4}, {"F64", 8}, {"I64", 8},     {"U64", 8}};

/// Returns a JSON list of sizes; empty if `list` is not a list of sizes.
std::optional<std::vector<std::int64_t>> sizes_in(const json& list) {
  if (!list.is_array() || list.size() > most_extents) return {};
  std::vector<std::int64_t> sizes;
  for (const json& size : list) {
    if (!size.is_number_unsigned() || size.get<std::uint64_t>() > (std::uint64_t{1} << 62))
      return {};
    sizes.push_back(size.get<std::int64_t>());
  }
  return sizes;
}

/// Reads a tensor's header entry; returns false if the entry is malformed.
bool read_entry(const json& value, safetensors_file::entry& tensor) {
  if (!value.is_object() || value.size() != 3) return false;
  const json element = value.value("dtype", json());
  const auto extents = sizes_in(value.value("shape", json()));
  const auto offsets = sizes_in(value.value("data_offsets", json()));
  if (!element.is_string() || !extents || !offsets || offsets->size() != 2) return false;
  const auto bytes = bytes_per_element.find(element.get<std::string>());
  if (bytes == bytes_per_element.end()) return false;
  tensor.element = bytes->first;
  tensor.shape = shape(*extents);
  tensor.begin = static_cast<std::uint64_t>((*offsets)[0]);
  tensor.end = static_cast<std::uint64_t>((*offsets)[1]);
  const auto elements = tensor.shape.checked_elements();
  return elements && tensor.end >= tensor.begin &&
         (tensor.end - tensor.begin) % bytes->second == 0 &&
         (tensor.end - tensor.begin) / bytes->second == static_cast<std::uint64_t>(*elements);
}

}  // namespace

safetensors_file::safetensors_file(std::string path) : path_(std::move(path)) {
  auto opened = open_binary_file(path_, "weights file");
  const std::uint64_t size = opened.size;
  file_ = std::move(opened.stream);
  // A header begins with '{'; other formats rarely have '{' at this offset.
  std::string beginning(9, '\0');
  std::uint64_t length = 0;
  if (size >= beginning.size() && file_.read(beginning.data(), 9)) {
    std::memcpy(&length, beginning.data(), sizeof length);
  }
  if (beginning.back() != '{' || length > largest_header) {
    fail(
        "is not a safetensors file; write the tensors of another format with save_file of "
        "safetensors.torch or safetensors.numpy, and name that file");
  }
  if (length > size - 8) fail("is truncated");
  std::string text(length, '\0');
  file_.seekg(8);
  file_.read(text.data(), static_cast<std::streamsize>(length));
  if (!file_) fail("cannot be read");

  json header;
  try {
    header = read_json(text);
  } catch (const json_error& why) {
    fail(fmt::format("is invalid: its header is not JSON: {}", why.what()));
  }
  data_start_ = 8 + length;
  for (const auto& [name, value] : header.items()) {
    if (name == "__metadata__") continue;
    entry tensor;
    if (!read_entry(value, tensor)) {
      fail(
          fmt::format("is invalid: tensor {} needs exactly a 'dtype', a 'shape' and matching "
                      "'data_offsets'",
                      quote(name)));
    }
    if (tensor.end > size - data_start_) {
      fail(fmt::format("is truncated: it ends before tensor {} does", quote(name)));
    }
    if (!entries_.emplace(name, std::move(tensor)).second) {
      fail(fmt::format("has two tensors named {}", quote(name)));
    }
  }
}

void safetensors_file::fail(const std::string& message) const {
  throw input_error(fmt::format("weights file '{}' {}", path_, message));
}

std::string safetensors_file::why_not_float32(std::string_view name, const shape& expected) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    std::vector<std::string> names;
    for (const auto& [known, _] : entries_) names.push_back(known);
    return fmt::format("weights file '{}' has no tensor '{}', expected F32 {}{}", path_, name,
                       to_string(expected), suggestion(name, names));
  }
  const entry& tensor = found->second;
  const bool converts = float_conversion(tensor.element) != nullptr;
  if (converts && tensor.shape == expected) return {};
  return fmt::format("weights file '{}' has the wrong tensor '{}': expected {} {}, found {} {}",
                     path_, name, converts ? "F32" : "F32 (or F16, BF16, F64)", to_string(expected),
                     tensor.element, to_string(tensor.shape));
}

std::vector<float> safetensors_file::read_float32(std::string_view name,
                                                  const shape& expected) const {
  if (const auto problem = why_not_float32(name, expected); !problem.empty()) {
    throw input_error(problem);
  }
  const entry& tensor = entries_.find(name)->second;
  const auto convert = float_conversion(tensor.element);
  std::vector<std::byte> bytes(tensor.end - tensor.begin);
  const std::lock_guard lock(reading_);
  file_.clear();
  file_.seekg(static_cast<std::streamoff>(data_start_ + tensor.begin));
  file_.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file_) fail(fmt::format("cannot be read at tensor '{}'", name));
  std::vector<float> values(static_cast<std::size_t>(expected.elements()));
  convert(bytes.data(), values);
  return values;
}

}  // namespace graphline::nn
