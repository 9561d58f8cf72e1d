#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>

#include "framework/base/error.hpp"
#include "stages/nn/onnx/onnx_model.hpp"
#include "tests/stages/nn/onnx/model_writer.hpp"

// ONNX's own tests, from Debian's libonnx-testdata.

namespace graphline::test {

using namespace nn;

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline onnx_model parse_model(const std::string& bytes) {
  return parse_onnx(std::as_bytes(std::span(bytes)), "test.onnx");
}

/// Reads a model as another operator set: the last occurrence of a field wins.
inline onnx_model read_model_as(const std::filesystem::path& folder, std::int64_t opset) {
  const auto other = written::message().add(8, written::message().number(2, opset));
  return parse_model(bytes_of(folder / "model.onnx") + other.bytes());
}

/// Reads a test's model; operator sets below 7 are read as 7.
inline onnx_model read_model(const std::filesystem::path& folder) {
  try {
    return parse_model(bytes_of(folder / "model.onnx"));
  } catch (const input_error&) {
    return read_model_as(folder, 7);
  }
}

/// A tensor file, read with the type that the model declares: files have uint16 in place of
/// bfloat16.
inline onnx_tensor read_tensor(const std::filesystem::path& file, const onnx_value& value) {
  const auto type = written::message().number(2, static_cast<std::int64_t>(value.element));
  const auto graph = written::message().text(5, bytes_of(file) + type.bytes());
  return parse_model(written::model(graph).bytes()).graph.initializers.at(0);
}

}  // namespace graphline::test
