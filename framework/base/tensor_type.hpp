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

/// Returns the name in YAML and reports, such as "float32".
std::string_view to_string(dtype type) noexcept;

/// Returns the dtype with this name; empty if there is none.
std::optional<dtype> dtype_from(std::string_view name) noexcept;

const std::vector<std::string>& dtype_names();

/// Returns the size of one element in bytes.
std::size_t size_of(dtype type) noexcept;

/// Extents of a tensor, outermost first. A scalar has no extents.
class shape {
 public:
  shape() = default;
  shape(std::initializer_list<std::int64_t> extents) : extents_(extents) {}
  explicit shape(std::vector<std::int64_t> extents) : extents_(std::move(extents)) {}

  std::size_t rank() const noexcept { return extents_.size(); }
  std::int64_t operator[](std::size_t axis) const { return extents_[axis]; }
  const std::vector<std::int64_t>& extents() const noexcept { return extents_; }

  /// Changes the outermost extent; does not allocate.
  /// @pre the shape has an extent
  void set_rows(std::int64_t rows) noexcept { extents_.front() = rows; }

  /// Returns the number of elements; empty if an extent is negative or the product exceeds 2^62.
  std::optional<std::int64_t> checked_elements() const noexcept;

  /// Returns the number of elements; INT64_MAX if `checked_elements()` is empty.
  std::int64_t elements() const noexcept;

  bool operator==(const shape&) const = default;

 private:
  std::vector<std::int64_t> extents_;
};

/// Returns "[32, 3, 224, 224]".
std::string to_string(const shape& s);

struct tensor_type {
  graphline::shape shape;
  dtype element = dtype::float32;

  /// Returns the size of the packed, row-major tensor in bytes.
  std::size_t bytes() const noexcept {
    return static_cast<std::size_t>(shape.elements()) * size_of(element);
  }

  bool operator==(const tensor_type&) const = default;
};

/// Returns "float32 [32, 3, 224, 224]".
std::string to_string(const tensor_type& type);

/// Returns the type of the first `rows` rows of a tensor: its outermost extent is `rows`.
/// @pre the type has an extent
tensor_type first_rows(const tensor_type& type, std::int64_t rows);

/// Memory layout of a 4-D device tensor [n, c, h, w]. All other tensors are row-major.
enum class tensor_layout {
  row_major,      ///< as [n, c, h, w]
  channels_last,  ///< as [n, h, w, c]
};

/// Non-owning view of a packed, row-major tensor in host or device memory.
struct tensor_view {
  void* data = nullptr;
  tensor_type type;

  template <class T>
  T* as() const noexcept {
    return static_cast<T*>(data);
  }
};

struct const_tensor_view {
  const void* data = nullptr;
  tensor_type type;

  template <class T>
  const T* as() const noexcept {
    return static_cast<const T*>(data);
  }
};

/// A named weight in host memory.
struct named_tensor {
  std::string name;  ///< name in PyTorch's state dict, such as "0.weight"
  tensor_type type;
  std::vector<std::byte> data;
};

}  // namespace graphline
