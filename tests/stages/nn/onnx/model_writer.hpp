#pragma once

#include <cstdint>
#include <cstring>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "stages/nn/onnx/onnx_tensor.hpp"

// Writes messages of ONNX files, valid and invalid, by the field numbers of onnx.proto.
namespace graphline::written {

class message {
 public:
  message& number(std::uint32_t field, std::int64_t value) {
    protozero::pbf_writer(bytes_).add_int64(field, value);
    return *this;
  }
  message& real(std::uint32_t field, float value) {
    protozero::pbf_writer(bytes_).add_float(field, value);
    return *this;
  }
  message& text(std::uint32_t field, std::string_view value) {
    protozero::pbf_writer(bytes_).add_bytes(field, value.data(), value.size());
    return *this;
  }
  message& packed(std::uint32_t field, const std::vector<std::int64_t>& values) {
    protozero::pbf_writer(bytes_).add_packed_int64(field, values.begin(), values.end());
    return *this;
  }
  message& packed_reals(std::uint32_t field, const std::vector<float>& values) {
    protozero::pbf_writer(bytes_).add_packed_float(field, values.begin(), values.end());
    return *this;
  }
  message& add(std::uint32_t field, const message& part) { return text(field, part.bytes_); }

  const std::string& bytes() const noexcept { return bytes_; }

 private:
  std::string bytes_;
};

/// The elements' bytes, for raw_data.
template <class Element>
std::string raw(const std::vector<Element>& elements) {
  std::string bytes(elements.size() * sizeof(Element), '\0');
  if (!elements.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

/// A tensor without data.
inline message tensor(std::string_view name, nn::onnx_type element,
                      const std::vector<std::int64_t>& extents) {
  message result;
  for (const std::int64_t extent : extents) result.number(1, extent);
  return result.number(2, static_cast<std::int64_t>(element)).text(8, name);
}

inline message node(std::string_view op_type, const std::vector<std::string>& inputs,
                    const std::vector<std::string>& outputs, std::string_view name = {}) {
  message result;
  for (const std::string& input : inputs) result.text(1, input);
  for (const std::string& output : outputs) result.text(2, output);
  if (!name.empty()) result.text(3, name);
  return result.text(4, op_type);
}

/// An attribute with a value: `type` is its AttributeProto.AttributeType, whose field is one more.
inline message attribute(std::string_view name, std::int64_t type) {
  return message().text(1, name).number(20, type);
}

/// A float32 input or output: a graph's extents are numbers, or names.
inline message value(std::string_view name, const std::vector<std::string>& extents,
                     nn::onnx_type element = nn::onnx_type::float32) {
  message shape;
  for (const std::string& extent : extents) shape.add(1, message().text(2, extent));
  return message().text(1, name).add(
      2, message().add(1, message().number(1, static_cast<std::int64_t>(element)).add(2, shape)));
}

inline message model(const message& graph, std::int64_t opset = 13) {
  return message()
      .number(1, 8)
      .text(2, "a test")
      .add(8, message().text(1, "").number(2, opset))
      .add(7, graph);
}

}  // namespace graphline::written
