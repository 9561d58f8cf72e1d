#pragma once

// A CUPTI for tests, a library by its name: it tells of what a test has noted in it.

#include <cstddef>
#include <cstdint>

namespace fake_cupti {

/// A kernel that a device has carried out, at such times in ns; 0 and 0 where CUPTI does not know.
/// Forgotten at once while kernels are not traced. `name` must stay.
void note_kernel(const char* name, std::uint32_t device, std::uint64_t start, std::uint64_t end);

/// In the same way a copy and a fill of so many bytes.
void note_copy(std::uint64_t bytes, std::uint32_t device, std::uint64_t start, std::uint64_t end);
void note_fill(std::uint64_t bytes, std::uint32_t device, std::uint64_t start, std::uint64_t end);

/// That many operations for which there was no room.
void drop(std::size_t count);

}  // namespace fake_cupti
