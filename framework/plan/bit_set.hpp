#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace graphline {

/// A set of small numbers whose size is fixed when it is made, so that the unions over thousands of
/// stages cost a word per 64 of them.
class bit_set {
 public:
  bit_set() = default;
  explicit bit_set(std::size_t size, bool all = false)
      : words_((size + 63) / 64, all ? ~std::uint64_t{0} : std::uint64_t{0}) {}

  bool operator[](std::size_t i) const noexcept { return ((words_[i / 64] >> (i % 64)) & 1) != 0; }
  void set(std::size_t i) noexcept { words_[i / 64] |= std::uint64_t{1} << (i % 64); }

  // Both operands must have been made with the same size.
  bit_set& operator|=(const bit_set& other) noexcept {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
    return *this;
  }
  bit_set& operator&=(const bit_set& other) noexcept {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= other.words_[w];
    return *this;
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace graphline
