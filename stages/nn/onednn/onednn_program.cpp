#include "stages/nn/onednn/onednn_program.hpp"

#include <fmt/format.h>

#include <oneapi/dnnl/dnnl_debug.h>
#include <dnnl.hpp>
#include <utility>

#include "framework/base/error.hpp"

namespace graphline::nn {
namespace {

/// Returns "CONTENT [IMPLEMENTATION]": "conv2d+bias+gelu [jit:avx512_core]".
std::string operation_name(std::string_view content, const dnnl::primitive_desc_base& chosen) {
  const char* implementation = nullptr;
  const auto status =
      dnnl_primitive_desc_query(chosen.get(), dnnl_query_impl_info_str, 0, &implementation);
  return status == dnnl_success ? fmt::format("{} [{}]", content, implementation)
                                : std::string(content);
}

/// Runs an operation with denormals flushed to zero.
class flushing_operation final : public host_operation {
 public:
  explicit flushing_operation(std::unique_ptr<host_operation> of) : of_(std::move(of)) {}

  std::string_view name() const noexcept override { return of_->name(); }
  void run() override { of_->run(); }
  bool flushes_denormals() const noexcept override { return true; }

 private:
  std::unique_ptr<host_operation> of_;
};

}  // namespace

const dnnl::engine& onednn_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::primitive_attr onednn_attributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_fpmath_mode(dnnl::fpmath_mode::strict);
  return attributes;
}

dnnl::memory::desc plain_layout(const shape& s, bool transpose) {
  // oneDNN has no tensors without dimensions.
  if (s.rank() == 0) return plain_layout({1});
  dnnl::memory::dims strides(s.rank(), 1);
  for (std::size_t axis = s.rank(); axis-- > 1;) strides[axis - 1] = strides[axis] * s[axis];
  if (transpose) {
    strides[s.rank() - 1] = s[s.rank() - 2];
    strides[s.rank() - 2] = 1;
  }
  return {s.extents(), dnnl::memory::data_type::f32, strides};
}

dnnl::memory::desc any_layout(const shape& s) {
  return {s.extents(), dnnl::memory::data_type::f32, dnnl::memory::format_tag::any};
}

std::string onednn_choice(const std::string& operations, precision asked, bool own) {
  std::string choice = own ? operations : "oneDNN " + operations;
  if (asked != precision::float32) {
    choice += fmt::format("; in float32, host has no {}", to_word(asked));
  }
  return choice;
}

onednn_operation::onednn_operation(std::string name, std::string owner, dnnl::primitive primitive,
                                   const std::vector<onednn_argument>& arguments)
    : name_(std::move(name)),
      owner_(std::move(owner)),
      primitive_(std::move(primitive)),
      stream_(onednn_engine()) {
  for (const onednn_argument& argument : arguments) {
    memories_.emplace_back(argument.layout, onednn_engine(), argument.data);
    arguments_.push_back({argument.role, memories_.back().get()});
  }
}

void onednn_operation::run() {
  const dnnl_status_t status = dnnl_primitive_execute(
      primitive_.get(), stream_.get(), static_cast<int>(arguments_.size()), arguments_.data());
  if (status != dnnl_success) {
    throw run_error(
        fmt::format("{}: oneDNN failed to run {}: {}", owner_, name_, dnnl_status2str(status)));
  }
}

void host_program::add_primitive(std::string_view content, const std::string& owner,
                                 const dnnl::primitive& primitive,
                                 const dnnl::primitive_desc_base& chosen,
                                 const dnnl::memory::desc& scratchpad,
                                 std::vector<host_operand> operands) {
  if (const std::size_t bytes = scratchpad.get_size(); bytes > 0) {
    operands.push_back(
        {DNNL_ARG_SCRATCHPAD, {add_buffer(buffer_place::scratch, bytes), scratchpad}});
  }
  const std::string name = operation_name(content, chosen);
  steps.push_back({name, std::move(operands),
                   [name, owner, primitive](const std::vector<onednn_argument>& arguments)
                       -> std::unique_ptr<host_operation> {
                     return std::make_unique<onednn_operation>(name, owner, primitive, arguments);
                   }});
}

void host_program::place_buffers() {
  std::vector<std::vector<std::size_t>> uses;
  for (const host_step& step : steps) {
    std::vector<std::size_t>& used = uses.emplace_back();
    for (const host_operand& operand : step.operands) used.push_back(operand.tensor.buffer);
  }
  program::place_buffers(uses);
}

void host_program::load_constants(std::byte* weights) {
  dnnl::stream stream(onednn_engine());
  for (host_constant& constant : constants) {
    dnnl::memory from(constant.given, onednn_engine(), constant.values.data());
    dnnl::memory to(constant.wanted, onednn_engine(), weights + buffers[constant.buffer].offset);
    dnnl::reorder(from, to).execute(stream, from, to);
    stream.wait();
    std::vector<float>().swap(constant.values);
  }
  constants.clear();
  constants.shrink_to_fit();
}

std::vector<host_program::bound_step> host_program::bind(const program_memory& memory) const {
  std::vector<bound_step> operations;
  for (const host_step& step : steps) {
    std::vector<onednn_argument> arguments;
    for (const host_operand& operand : step.operands) {
      arguments.push_back({operand.role, operand.tensor.layout,
                           address_of(operand.tensor.buffer, memory) + operand.offset});
    }
    bound_step operation = step.make(arguments);
    if (flush_denormals) operation = std::make_unique<flushing_operation>(std::move(operation));
    operations.push_back(std::move(operation));
  }
  return operations;
}

std::vector<std::pair<std::string, std::string>> onednn_version() {
  const dnnl_version_t& v = *dnnl_version();
  return {{"oneDNN", fmt::format("{}.{}.{}", v.major, v.minor, v.patch)}};
}

}  // namespace graphline::nn
