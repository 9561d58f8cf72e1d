#include "stages/onednn/onednn_version.hpp"

#include <fmt/format.h>

#include <dnnl.hpp>

namespace graphline {

std::vector<std::pair<std::string, std::string>> onednn_version() {
  const dnnl_version_t& v = *dnnl_version();
  return {{"oneDNN", fmt::format("{}.{}.{}", v.major, v.minor, v.patch)}};
}

}  // namespace graphline
