#include "framework/base/tensor_type.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace graphline {
namespace {

struct dtype_entry {
  dtype type;
  std::string_view name;
  std::size_t size;
};

constexpr dtype_entry dtypes[] = {{dtype::float32, "float32", 4}, {dtype::float64, "float64", 8},
                                  {dtype::float16, "float16", 2}, {dtype::bfloat16, "bfloat16", 2},
                                  {dtype::int64, "int64", 8},     {dtype::int32, "int32", 4},
                                  {dtype::uint8, "uint8", 1}};

constexpr bool in_order_of_the_enumeration() {
  for (std::size_t i = 0; i < std::size(dtypes); ++i) {
    if (static_cast<std::size_t>(dtypes[i].type) != i) return false;
  }
  return true;
}
static_assert(in_order_of_the_enumeration(), "the table is indexed by dtype");

const dtype_entry& entry_of(dtype type) noexcept {
  return dtypes[static_cast<std::size_t>(type)];
}

}  // namespace

std::string_view to_string(dtype type) noexcept {
  return entry_of(type).name;
}

std::optional<dtype> dtype_from(std::string_view name) noexcept {
  for (const dtype_entry& entry : dtypes) {
    if (entry.name == name) return entry.type;
  }
  return std::nullopt;
}

const std::vector<std::string>& dtype_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const dtype_entry& entry : dtypes) list.emplace_back(entry.name);
    return list;
  }();
  return names;
}

std::size_t size_of(dtype type) noexcept {
  return entry_of(type).size;
}

std::optional<std::int64_t> shape::checked_elements() const noexcept {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  if (std::ranges::any_of(extents_, [](std::int64_t e) { return e < 0; })) return std::nullopt;
  // A zero extent makes the tensor empty, however large the other extents are.
  if (std::ranges::find(extents_, 0) != extents_.end()) return 0;
  std::int64_t product = 1;
  for (const std::int64_t extent : extents_) {
    if (extent > most / product) return std::nullopt;
    product *= extent;
  }
  return product;
}

std::int64_t shape::elements() const noexcept {
  return checked_elements().value_or(std::numeric_limits<std::int64_t>::max());
}

std::string to_string(const shape& s) {
  return fmt::format("[{}]", fmt::join(s.extents(), ", "));
}

tensor_type first_rows(const tensor_type& type, std::int64_t rows) {
  tensor_type first = type;
  first.shape.set_rows(rows);
  return first;
}

std::string to_string(const tensor_type& type) {
  return fmt::format("{} {}", to_string(type.element), to_string(type.shape));
}

}  // namespace graphline
