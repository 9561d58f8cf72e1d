#pragma once

#include <concepts>
#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "framework/base/utf8.hpp"

namespace graphline::nn {

/// Throws unless a field has the expected type: protozero checks bounds, but not types.
inline void expect(bool sound) {
  if (!sound) throw protozero::unknown_pbf_wire_type_exception();
}

// Read a field of a type: bytes or a message, text, or a number. For a vector, append one element
// or a packed field.

inline void take(protozero::pbf_reader& from, std::string_view& to) {
  expect(from.has_wire_type(protozero::pbf_wire_type::length_delimited));
  const auto view = from.get_view();
  to = {view.data(), view.size()};
}

inline void take(protozero::pbf_reader& from, std::string& to) {
  std::string_view bytes;
  take(from, bytes);
  expect(!first_invalid_utf8(bytes));
  to = bytes;
}

inline void take(protozero::pbf_reader& from, std::int64_t& to) {
  expect(from.has_wire_type(protozero::pbf_wire_type::varint));
  to = from.get_int64();
}

inline void take(protozero::pbf_reader& from, float& to) {
  expect(from.has_wire_type(protozero::pbf_wire_type::fixed32));
  to = from.get_float();
}

inline void take(protozero::pbf_reader& from, double& to) {
  expect(from.has_wire_type(protozero::pbf_wire_type::fixed64));
  to = from.get_double();
}

template <class Element>
void take(protozero::pbf_reader& from, std::vector<Element>& to) {
  const auto append = [&to](const auto& packed) {
    to.insert(to.end(), packed.begin(), packed.end());
  };
  const bool packed = from.has_wire_type(protozero::pbf_wire_type::length_delimited);
  if constexpr (std::is_same_v<Element, std::int64_t>) {
    if (packed) return append(from.get_packed_int64());
  } else if constexpr (std::is_same_v<Element, float>) {
    if (packed) return append(from.get_packed_float());
  } else if constexpr (std::is_same_v<Element, double>) {
    if (packed) return append(from.get_packed_double());
  }
  Element element{};
  take(from, element);
  to.push_back(std::move(element));
}

/// Calls a function with the field's bytes.
template <class Function>
requires std::invocable<Function&, std::string_view>
void take(protozero::pbf_reader& from, Function& function) {
  std::string_view bytes;
  take(from, bytes);
  function(bytes);
}

/// A field's number in onnx.proto and the target for its value.
template <class Target>
struct field {
  std::uint32_t number;
  Target target;
};
template <class Target>
field(int, Target&&) -> field<Target>;

/// Reads these fields of a message and skips all others.
template <class... Target>
void read_fields(std::string_view message, field<Target>... fields) {
  for (protozero::pbf_reader from(message.data(), message.size()); from.next();) {
    const auto fits = [&](auto& candidate) {
      if (candidate.number != from.tag()) return false;
      take(from, candidate.target);
      return true;
    };
    if (!(fits(fields) || ...)) from.skip();
  }
}

}  // namespace graphline::nn
