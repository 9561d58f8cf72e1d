#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace graphline {

/// Element type of a tensor.
enum class dtype { float32, float64, float16, bfloat16, int64, int32, uint8 };

/// The name used in YAML and in every output, such as "float32".
std::string_view to_string(dtype type) noexcept;

/// The dtype of that name, or nothing.
std::optional<dtype> dtype_from(std::string_view name) noexcept;

/// Every dtype's name, for messages and suggestions.
const std::vector<std::string>& dtype_names();

/// Bytes of one element.
std::size_t size_of(dtype type) noexcept;

/// Extents of a tensor, outermost first, row-major; no extents is a scalar.
class shape {
 public:
  shape() = default;
  shape(std::initializer_list<std::int64_t> extents) : extents_(extents) {}
  explicit shape(std::vector<std::int64_t> extents) : extents_(std::move(extents)) {}

  std::size_t rank() const noexcept { return extents_.size(); }
  std::int64_t operator[](std::size_t axis) const { return extents_[axis]; }
  const std::vector<std::int64_t>& extents() const noexcept { return extents_; }

  /// Number of elements; nothing if an extent is negative or the product exceeds 2^62.
  std::optional<std::int64_t> checked_elements() const noexcept;

  /// Number of elements of a shape already known to be sound; of any other the largest there is.
  std::int64_t elements() const noexcept;

  bool operator==(const shape&) const = default;

 private:
  std::vector<std::int64_t> extents_;
};

/// As a reader writes it: "[32, 3, 224, 224]".
std::string to_string(const shape& s);

/// Shape and element type: all that is known of a tensor before it has memory.
struct tensor_type {
  graphline::shape shape;
  dtype element = dtype::float32;

  /// Size in bytes, packed, row-major.
  std::size_t bytes() const noexcept {
    return static_cast<std::size_t>(shape.elements()) * size_of(element);
  }

  bool operator==(const tensor_type&) const = default;
};

/// "float32 [32, 3, 224, 224]".
std::string to_string(const tensor_type& type);

/// How the elements of a tensor [n, c, h, w] on a device lie in memory. Every other tensor is
/// row-major.
enum class tensor_layout {
  row_major,      ///< as [n, c, h, w]
  channels_last,  ///< as [n, h, w, c]
};

/// A tensor in memory that somebody else owns: packed, row-major, on the side the holder says.
struct tensor_view {
  void* data = nullptr;
  tensor_type type;

  template <class T>
  T* as() const noexcept {
    return static_cast<T*>(data);
  }
};

/// A tensor that its holder only reads, likewise.
struct const_tensor_view {
  const void* data = nullptr;
  tensor_type type;

  template <class T>
  const T* as() const noexcept {
    return static_cast<const T*>(data);
  }
};

/// A weight by name, in host memory.
struct named_tensor {
  std::string name;  ///< as in PyTorch's state dict: "0.weight", "bn.running_mean"
  tensor_type type;
  std::vector<std::byte> data;
};

}  // namespace graphline
