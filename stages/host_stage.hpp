#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stages/nn/onednn/host_function.hpp"
#include "stages/one_part_stage.hpp"

namespace graphline {

/// Makes a stage of one part for a `host` device. Its operation is called `name`. `bind` takes the
/// tensors of a slot and returns the function that the device's worker thread runs on them.
inline std::unique_ptr<device_stage> host_stage(
    std::string name, const stage_part& part,
    std::function<std::function<void()>(const stage_tensors&)> bind) {
  return std::make_unique<one_part_stage>(
      std::vector{part},
      [name = std::move(name),
       bind = std::move(bind)](const stage_tensors& tensors) -> enqueue_function {
        return [operation = std::make_shared<nn::host_function>(name, bind(tensors))](stream& s) {
          host_enqueue(s, *operation);
        };
      });
}

}  // namespace graphline
