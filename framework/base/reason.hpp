#pragma once

#include <exception>
#include <new>
#include <stdexcept>

namespace graphline {

/// What an exception says, for a message; of too little memory the standard library says only
/// "std::bad_alloc". Takes no memory itself.
inline const char* reason_of(const std::exception& e) noexcept {
  const bool memory = dynamic_cast<const std::bad_alloc*>(&e) != nullptr ||
                      dynamic_cast<const std::length_error*>(&e) != nullptr;
  return memory ? "out of memory" : e.what();
}

}  // namespace graphline
