#include "stages/weights/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "framework/base/diagnostic.hpp"
#include "framework/base/error.hpp"
#include "framework/base/json_reader.hpp"
#include "framework/base/text_file.hpp"
#include "framework/base/utf8.hpp"
#include "stages/weights/float_conversion.hpp"

namespace graphline {
namespace {

struct format {
  std::string_view magic;
  std::string_view what;
  std::string_view remedy;
};

/// What is named as weights by mistake, and what to do then.
constexpr std::string_view save =
    "write its tensors with save_file of safetensors.torch or safetensors.numpy and name that file";
constexpr std::string_view name_another = "name the file that holds the network's weights";
constexpr format formats[] = {
    {"\x80\x02", "a pickle, as PyTorch writes it", save},
    {"\x80\x03", "a pickle", save},
    {"\x80\x04", "a pickle", save},
    {"\x80\x05", "a pickle", save},
    {"PK\x03\x04", "a ZIP archive, as PyTorch and NumPy write it", save},
    {"\x93NUMPY", "a NumPy file", save},
    {"\x89HDF\r\n\x1a\n", "an HDF5 file", save},
    {"GGUF", "a GGUF file", name_another},
    {"\xff\xd8\xff", "a JPEG picture", name_another},
    {"\x89PNG\r\n\x1a\n", "a PNG picture", name_another},
    {"version https://git-lfs", "a Git LFS pointer", "'git lfs pull' gets the file itself"},
    {"<", "an HTML page", "download the file itself"},
};

/// Whether it may be a protocol buffer of ONNX's ModelProto: the field ir_version, one small
/// number, and then another field of it (onnx.proto; writers keep fields in order).
bool is_onnx(std::string_view beginning) {
  constexpr std::string_view further_fields = "\x12\x1a\x22\x28\x32\x3a\x42\x72";
  return beginning.size() > 2 && beginning[0] == '\x08' && beginning[1] > 0 &&
         beginning[1] < 0x40 && further_fields.find(beginning[2]) != further_fields.npos;
}

/// What a file is that somebody named as weights but is no safetensors file, told by its first
/// bytes (64 suffice), with the remedy: "a JPEG picture, not a safetensors file; ...". Empty where
/// it is of no format that is known here.
std::string describe_foreign_format(std::string_view beginning) {
  format is{};
  for (const format& known : formats) {
    if (beginning.starts_with(known.magic)) is = known;
  }
  if (is_onnx(beginning)) is = {"", "an ONNX model", save};
  return is.what.empty() ? "" : fmt::format("{}, not a safetensors file; {}", is.what, is.remedy);
}

using json = nlohmann::ordered_json;

/// The format's own bound on a header.
constexpr std::uint64_t largest_header = 100'000'000;

/// Far more than the dimensions of any tensor.
constexpr std::size_t most_extents = 64;

/// Bytes per element of each type the format knows.
const std::map<std::string, std::uint64_t, std::less<>> element_sizes = {
    {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1},
    {"I16", 2},  {"U16", 2}, {"F16", 2}, {"BF16", 2},    {"I32", 4},
    {"U32", 4},  {"F32", 4}, {"F64", 8}, {"I64", 8},     {"U64", 8}};

std::string describe(const safetensors_file::entry& tensor) {
  return fmt::format("{} {}", tensor.element, to_string(tensor.shape));
}

/// What stands in a header, for a message; it may be of any length.
std::string shown(const json& value) {
  std::string text = value.dump();
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

std::optional<std::uint64_t> unsigned_number(const json& value) {
  if (!value.is_number_unsigned()) return {};
  return value.get<std::uint64_t>();
}

/// A tensor's part of the header; a message when it is not well formed.
std::string read_entry(const json& value, safetensors_file::entry& tensor) {
  if (!value.is_object() || !value.contains("dtype") || !value.contains("shape") ||
      !value.contains("data_offsets") || value.size() != 3) {
    return "must have exactly 'dtype', 'shape' and 'data_offsets'";
  }
  const json& element = value["dtype"];
  if (!element.is_string() || !element_sizes.contains(element.get<std::string>())) {
    return fmt::format("has the unknown dtype {}", shown(element));
  }
  tensor.element = element.get<std::string>();

  const json& extents = value["shape"];
  std::vector<std::int64_t> sizes;
  if (!extents.is_array()) return fmt::format("has the shape {}, not a list", shown(extents));
  if (extents.size() > most_extents) return fmt::format("has {} dimensions", extents.size());
  for (const json& extent : extents) {
    const auto size = unsigned_number(extent);
    if (!size || *size > (std::uint64_t{1} << 62)) {
      return fmt::format("has {} in its shape, not a size", shown(extent));
    }
    sizes.push_back(static_cast<std::int64_t>(*size));
  }
  tensor.shape = shape(std::move(sizes));

  const json& offsets = value["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2 || !unsigned_number(offsets[0]) ||
      !unsigned_number(offsets[1])) {
    return fmt::format("has the data_offsets {}, not [begin, end]", shown(offsets));
  }
  tensor.begin = *unsigned_number(offsets[0]);
  tensor.end = *unsigned_number(offsets[1]);
  const auto elements = tensor.shape.checked_elements();
  const std::uint64_t size = element_sizes.find(tensor.element)->second;
  if (!elements || tensor.end < tensor.begin || (tensor.end - tensor.begin) % size != 0 ||
      (tensor.end - tensor.begin) / size != static_cast<std::uint64_t>(*elements)) {
    return fmt::format("has the data_offsets [{}, {}], which do not hold {}", tensor.begin,
                       tensor.end, describe(tensor));
  }
  return {};
}

}  // namespace

safetensors_file::safetensors_file(std::string path) : path_(std::move(path)) {
  namespace fs = std::filesystem;
  std::error_code problem;
  const auto found = fs::status(path_, problem);
  if (found.type() == fs::file_type::not_found) fail("does not exist" + near_file(path_));
  if (fs::is_directory(found)) fail("is a folder, not a file");
  // Opening a pipe would wait for somebody to write to it.
  if (fs::exists(found) && !fs::is_regular_file(found)) fail("is not a regular file");
  errno = 0;
  file_.open(path_, std::ios::binary);
  if (!file_) fail("cannot be opened: " + std::generic_category().message(errno));
  read_header();
}

void safetensors_file::fail(const std::string& message) const {
  throw input_error(fmt::format("weights file '{}' {}", path_, message));
}

void safetensors_file::read_header() {
  file_.seekg(0, std::ios::end);
  const std::streamoff end = file_.tellg();
  file_.seekg(0);
  if (!file_ || end < 0) fail("cannot be read");
  const auto size = static_cast<std::uint64_t>(end);
  std::string beginning(std::min<std::uint64_t>(size, 64), '\0');
  file_.read(beginning.data(), std::ssize(beginning));
  if (!file_) fail("cannot be read");
  // What begins as a header is one, whatever its length looks like.
  if (size <= 8 || beginning[8] != '{') {
    const std::string other = describe_foreign_format(beginning);
    if (!other.empty()) fail("is " + other);
  }
  if (size < 8) fail(fmt::format("is no safetensors file: it has {} bytes", size));

  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(beginning[i]);
  }
  if (length > largest_header) {
    fail(fmt::format("is no safetensors file: it states a header of {} bytes", length));
  }
  if (length > size - 8) {
    fail(fmt::format("is truncated: the header has {} bytes, the file only {} after its length",
                     length, size - 8));
  }
  std::string text(length, '\0');
  file_.seekg(8);
  file_.read(text.data(), static_cast<std::streamsize>(length));
  if (!file_) fail("cannot be read");

  json header;
  try {
    header = read_json(text);
  } catch (const json_error& why) {
    fail(fmt::format("is no safetensors file: its header is no JSON object: {}", why.what()));
  }
  if (!header.is_object()) fail("is no safetensors file: its header is no JSON object");
  for (const auto& [name, value] : header.items()) {
    if (name == "__metadata__") continue;
    entry tensor;
    const std::string problem = read_entry(value, tensor);
    if (!problem.empty()) fail(fmt::format("is not sound: tensor {} {}", quote(name), problem));
    if (!entries_.emplace(name, std::move(tensor)).second) {
      fail(fmt::format("has two tensors named {}", quote(name)));
    }
  }
  data_start_ = 8 + length;
  check_layout(size - data_start_);
}

void safetensors_file::check_layout(std::uint64_t data_bytes) const {
  std::vector<const std::pair<const std::string, entry>*> in_order;
  for (const auto& named_entry : entries_) in_order.push_back(&named_entry);
  std::stable_sort(in_order.begin(), in_order.end(), [](const auto* a, const auto* b) {
    return std::pair(a->second.begin, a->second.end) < std::pair(b->second.begin, b->second.end);
  });
  std::uint64_t reached = 0;
  for (const auto* tensor : in_order) {
    const auto& [name, range] = *tensor;
    if (range.begin != reached) {
      fail(fmt::format(
          "is not sound: tensor {} starts at byte {} of the data, {} byte {}", quote(name),
          range.begin,
          range.begin < reached ? "inside another that ends at" : "leaving a gap after", reached));
    }
    reached = range.end;
  }
  if (reached > data_bytes) {
    fail(fmt::format("is truncated: its tensors take {} bytes, the file holds {}", reached,
                     data_bytes));
  }
  if (reached < data_bytes) {
    fail(fmt::format("is not sound: {} bytes follow its last tensor", data_bytes - reached));
  }
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
  return fmt::format("weights file '{}' has the wrong tensor '{}': expected {} {}, found {}", path_,
                     name, converts ? "F32" : "F32 (or F16, BF16, F64)", to_string(expected),
                     describe(tensor));
}

std::vector<float> safetensors_file::read_float32(std::string_view name, const shape& expected) {
  if (const auto problem = why_not_float32(name, expected); !problem.empty()) {
    throw input_error(problem);
  }
  const entry& tensor = entries_.find(name)->second;
  const auto convert = float_conversion(tensor.element);
  std::vector<std::byte> bytes(tensor.end - tensor.begin);
  file_.seekg(static_cast<std::streamoff>(data_start_ + tensor.begin));
  file_.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file_) fail(fmt::format("cannot be read at tensor '{}'", name));
  std::vector<float> values(static_cast<std::size_t>(expected.elements()));
  convert(bytes.data(), values);
  return values;
}

}  // namespace graphline
