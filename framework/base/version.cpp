#include "framework/base/version.hpp"

namespace graphline {

std::string_view version() noexcept {
  return GRAPHLINE_VERSION;
}

}  // namespace graphline
