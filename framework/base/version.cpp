#include "framework/base/version.hpp"

namespace graphline {

std::string_view version() noexcept {
  return GRAPHLINE_VERSION;
}

std::string_view build_type() noexcept {
  return GRAPHLINE_BUILD_TYPE;
}

}  // namespace graphline
