#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <system_error>
#include <vector>

namespace graphline::test {

/// The side of an operand with the protected page.
enum class guard { before, behind };

constexpr guard guards[] = {guard::before, guard::behind};

/// Elements beside a protected page, so that an access beyond them ends the test by SIGSEGV,
/// without a sanitizer. `room` elements separate them from the page, for another alignment.
template <class T>
class guarded {
 public:
  guarded(std::size_t count, guard at, std::size_t room = 0) : count_(count) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    bytes_ = ((count + room) * sizeof(T) + page) / page * page;
    pages_ = ::mmap(nullptr, bytes_ + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages_ == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    first_ = static_cast<std::byte*>(pages_) + page;
    if (::mprotect(first_, bytes_, PROT_READ | PROT_WRITE) != 0) {
      throw std::system_error(errno, std::generic_category(), "mprotect");
    }
    std::memset(first_, unwritten, bytes_);
    const std::size_t offset =
        at == guard::before ? room * sizeof(T) : bytes_ - (count + room) * sizeof(T);
    data_ = reinterpret_cast<T*>(first_ + offset);
  }
  guarded(const std::vector<T>& values, guard at, std::size_t room = 0)
      : guarded(values.size(), at, room) {
    std::copy(values.begin(), values.end(), data_);
  }
  ~guarded() { ::munmap(pages_, bytes_ + 2 * static_cast<std::size_t>(first_ - pages())); }
  guarded(const guarded&) = delete;
  guarded& operator=(const guarded&) = delete;

  T* data() const { return data_; }
  std::span<T> span() const { return {data_, count_}; }
  std::vector<T> values() const { return {data_, data_ + count_}; }

  /// Whether the memory around the elements is unchanged.
  bool alone() const {
    const auto kept = [](std::byte b) { return b == std::byte{unwritten}; };
    const auto own = std::as_bytes(span());
    return std::all_of(static_cast<const std::byte*>(first_), own.data(), kept) &&
           std::all_of(own.data() + own.size(), static_cast<const std::byte*>(first_) + bytes_,
                       kept);
  }

 private:
  static constexpr unsigned char unwritten = 0xff;  // of floats, NaN

  std::byte* pages() const { return static_cast<std::byte*>(pages_); }

  std::size_t count_;
  std::size_t bytes_ = 0;  ///< between the protected pages
  void* pages_ = nullptr;
  std::byte* first_ = nullptr;
  T* data_ = nullptr;
};

}  // namespace graphline::test
