#pragma once

// A CUPTI for tests, a library by its name: it tells of what a test has noted in it.

#include <cstdint>

namespace fake_cupti {

/// A kernel that a device has carried out, at such times in ns; 0 and 0 where CUPTI does not know.
/// Forgotten at once while kernels are not traced. `name` must stay.
void note_kernel(const char* name, std::uint32_t device, std::uint64_t start, std::uint64_t end);

}  // namespace fake_cupti
