#include "stages/builtin.hpp"

#include "stages/kinds.hpp"

namespace graphline {

stage_registry builtin_stages() {
  stage_registry registry;
  registry.add(network_kind());
  registry.add(matmul_kind());
  registry.add(copy_kind());
  registry.add(random_normal_kind());
  registry.add(spin_kind());
  registry.add(images_kind());
  registry.add(top_k_kind());
  registry.add(nms_kind());
  return registry;
}

}  // namespace graphline
