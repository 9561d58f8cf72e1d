#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/file/npy_file.hpp"
#include "stages/cpu/file_folder.hpp"
#include "stages/kinds.hpp"

namespace graphline {
namespace {

/// @throws input_error if the file cannot be read or holds another type
npy_file open_array(const std::string& path, const tensor_type& expected) {
  npy_file file(path);
  if (file.type() != expected) {
    throw input_error(fmt::format("NumPy file '{}' holds {}; the first of its folder holds {}",
                                  path, to_string(file.type()), to_string(expected)));
  }
  return file;
}

class arrays final : public cpu_stage {
 public:
  arrays(std::vector<std::string> files, tensor_type each)
      : files_(std::move(files)), each_(std::move(each)) {}

  void run(const cpu_call& call) override {
    const std::size_t bytes = each_.bytes();
    const std::size_t count = call.outputs[0].type.bytes() / bytes;
    const std::size_t first = first_file(call, count);
    auto* out = call.outputs[0].as<std::byte>();
    for (std::size_t i = 0; i < count; ++i, out += bytes) {
      open_array(files_[(first + i) % files_.size()], each_).read({out, bytes});
    }
  }

 private:
  std::vector<std::string> files_;
  tensor_type each_;
};

prepared_stage prepare_arrays(const arguments& given, std::span<const tensor_type>,
                              diagnostics& out) {
  std::optional<dtype> stated;
  if (given.has("dtype")) stated = given.element("dtype");
  std::optional<tensor_type> each;
  auto files = files_of_folder(
      given, {".npy"},
      [&](const std::string& path) {
        if (each) {
          open_array(path, *each);
          return;
        }
        const npy_file file(path);
        if (const auto problem = file.dtype_problem(stated); !problem.empty()) {
          throw input_error(problem);
        }
        each = file.type();
      },
      out);
  if (files.empty()) return {};
  std::vector<std::int64_t> extents = each->shape.extents();
  if (given.has("batch")) extents.insert(extents.begin(), given.integer("batch"));
  prepared_stage result = prepared_moves(
      {}, {{shape(std::move(extents)), each->element}},
      [files, type = *each](const stage_config&) { return std::make_unique<arrays>(files, type); });
  result.known = known_cost::all;  // no arithmetic
  return result;
}

}  // namespace

stage_kind arrays_kind() {
  stage_kind kind = kind_named("cpu.arrays", "Read NumPy files");
  kind.outputs = {
      {"values",
       "the array in one file or, with 'batch', [batch, ...] of as many files; all files "
       "must have the shape and dtype of the first",
       true}};
  kind.parameters = {
      folder_parameter(".npy files"),
      batch_parameter(),
      {.name = "dtype",
       .type = parameter_type::element,
       .help = "Element type of the files. State it for float64, and for bfloat16, which files "
               "hold as uint16."},
  };
  kind.open = [](const arguments& given, diagnostics&) {
    return open_batch(given, {"values"}, prepare_arrays);
  };
  return kind;
}

}  // namespace graphline
