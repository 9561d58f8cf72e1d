#pragma once

#include <type_traits>
#include <typeinfo>

#include "framework/base/error.hpp"

namespace graphline {

/// `object` as the backend's type it must be, of the device that `engine` belongs to. Throws
/// `run_error` when it belongs to another device. T is final, so comparing the types is enough.
template <class T, class U, class Engine>
auto& same_engine(U& object, const Engine& engine) {
  using result = std::conditional_t<std::is_const_v<U>, const T, T>;
  if (typeid(object) == typeid(T)) {
    auto& ours = static_cast<result&>(object);
    if (&ours.engine() == &engine) return ours;
  }
  throw run_error(
      "a stream, event or graph of one device was used with another; make it on the device that "
      "uses it");
}

}  // namespace graphline
