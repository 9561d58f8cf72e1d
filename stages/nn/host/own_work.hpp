#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "stages/nn/host/lowering.hpp"

namespace graphline::nn {

/// A Graphline loop, called with pointers to its inputs and its outputs.
template <class Work, std::size_t reads, std::size_t writes>
class loop_operation final : public host_operation {
 public:
  loop_operation(std::string name, Work work, const std::vector<onednn_argument>& arguments)
      : name_(std::move(name)), work_(std::move(work)) {
    for (std::size_t i = 0; i < reads; ++i) from_[i] = static_cast<const float*>(arguments[i].data);
    for (std::size_t i = 0; i < writes; ++i)
      to_[i] = static_cast<float*>(arguments[reads + i].data);
  }

  std::string_view name() const noexcept override { return name_; }
  void run() override {
    std::apply([this](auto*... each) { work_(each...); }, std::tuple_cat(from_, to_));
  }

 private:
  std::string name_;
  Work work_;
  std::array<const float*, reads> from_;
  std::array<float*, writes> to_;
};

/// Adds a step that runs `work`; the step is named after the layer's kind.
template <class Work, std::size_t reads, std::size_t writes>
void add_work(host_lowering& b, const network_layer& layer, Work work,
              const host_value (&from)[reads], const host_value (&to)[writes]) {
  const std::string name = layer.kind + " [loops]";
  std::vector<host_operand> operands;
  for (std::size_t i = 0; i < reads; ++i) {
    operands.push_back({DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), from[i]});
  }
  for (const host_value& each : to) operands.push_back({DNNL_ARG_DST, each});
  b.add_step({name, std::move(operands), [name, work](const std::vector<onednn_argument>& given) {
                return std::make_unique<loop_operation<Work, reads, writes>>(name, work, given);
              }});
}
template <class Work, std::size_t reads>
void add_work(host_lowering& b, const network_layer& layer, Work work,
              const host_value (&from)[reads], const host_value& to) {
  const host_value all[] = {to};
  add_work(b, layer, std::move(work), from, all);
}

}  // namespace graphline::nn
