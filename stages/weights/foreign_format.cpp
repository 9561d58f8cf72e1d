#include "stages/weights/foreign_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace graphline {

namespace {

constexpr std::string_view name_another = "name the file that holds the network's weights";
constexpr std::string_view save_state =
    "write its state_dict() with safetensors.torch.save_file and name that file";
constexpr std::string_view save_arrays =
    "write its arrays with safetensors.numpy.save_file and name that file";

struct format {
  std::string_view magic;
  std::string_view what;
  std::string_view remedy;
};

/// The first that fits counts.
constexpr format formats[] = {
    {"\xff\xd8\xff", "a JPEG picture", name_another},
    {"\x89PNG\r\n\x1a\n", "a PNG picture", name_another},
    {"\x93NUMPY", "a NumPy file", save_arrays},
    {"\x89HDF\r\n\x1a\n", "an HDF5 file", save_arrays},
    {"GGUF", "a GGUF file", name_another},
    // A legacy torch.save begins with a pickled number; other pickles say their protocol alone.
    {"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20", "a PyTorch file", save_state},
    {"\x80\x02", "a Python pickle", save_state},
    {"\x80\x03", "a Python pickle", save_state},
    {"\x80\x04", "a Python pickle", save_state},
    {"\x80\x05", "a Python pickle", save_state},
    {"version https://git-lfs", "a Git LFS pointer", "'git lfs pull' gets the file itself"},
    {"<!DOCTYPE", "an HTML page", "download the file itself"},
    {"<!doctype", "an HTML page", "download the file itself"},
    {"<html", "an HTML page", "download the file itself"},
};

/// ZIP archives are told apart by the name of their first member, which follows the 30 bytes of
/// its header (APPNOTE.TXT 4.3.7).
format zip_format(std::string_view beginning) {
  const std::string_view name = beginning.substr(std::min<std::size_t>(30, beginning.size()));
  if (name.find(".npy") != name.npos) return {"", "a NumPy archive", save_arrays};
  if (name.find("data.pkl") != name.npos) return {"", "a PyTorch file", save_state};
  return {"", "a ZIP archive", name_another};
}

/// Whether it may be a protocol buffer of ONNX's ModelProto: the field ir_version, one small
/// number, and then another field of it (onnx.proto; writers keep fields in order).
bool is_onnx(std::string_view beginning) {
  constexpr std::string_view further_fields = "\x12\x1a\x22\x28\x32\x3a\x42\x72";
  return beginning.size() > 2 && beginning[0] == '\x08' && beginning[1] > 0 &&
         beginning[1] < 0x40 && further_fields.find(beginning[2]) != further_fields.npos;
}

}  // namespace

std::string describe_foreign_format(std::string_view beginning) {
  const auto* found = std::ranges::find_if(
      formats, [&](const format& f) { return beginning.starts_with(f.magic); });
  format is{};
  if (found != std::end(formats)) {
    is = *found;
  } else if (beginning.starts_with("PK\x03\x04")) {
    is = zip_format(beginning);
  } else if (is_onnx(beginning)) {
    is = {"", "an ONNX model", "write its weights to a safetensors file and name that"};
  } else {
    return {};
  }
  return fmt::format("{}, not a safetensors file; {}", is.what, is.remedy);
}

}  // namespace graphline
