#include "stages/nn/onednn/onednn_program.hpp"

#include <fmt/format.h>

#include <oneapi/dnnl/dnnl_debug.h>
#include <dnnl.hpp>
#include <utility>

#include "framework/base/error.hpp"

namespace graphline::nn {
namespace {

/// A primitive bound to its arguments. A call allocates nothing. @throws run_error with owner, name
/// and oneDNN's status.
class bound_primitive {
 public:
  bound_primitive(std::string name, std::string owner, dnnl::primitive primitive,
                  const std::vector<host_operand>& operands, const std::vector<void*>& addresses)
      : name_(std::move(name)),
        owner_(std::move(owner)),
        primitive_(std::move(primitive)),
        stream_(onednn_engine()) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      memories_.emplace_back(operands[i].tensor.layout, onednn_engine(), addresses[i]);
      arguments_.push_back({operands[i].role, memories_.back().get()});
    }
  }

  void operator()() const {
    const dnnl_status_t status = dnnl_primitive_execute(
        primitive_.get(), stream_.get(), static_cast<int>(arguments_.size()), arguments_.data());
    if (status != dnnl_success) {
      throw run_error(
          fmt::format("{}: oneDNN failed to run {}: {}", owner_, name_, dnnl_status2str(status)));
    }
  }

 private:
  std::string name_;
  std::string owner_;  // leads messages: "stage 'head', layer '0.linear'"
  dnnl::primitive primitive_;
  dnnl::stream stream_;
  std::vector<dnnl::memory> memories_;      // own the handles in arguments_
  std::vector<dnnl_exec_arg_t> arguments_;  // for the C interface, made once
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

void host_program::add_primitive(std::string_view content, const std::string& owner,
                                 const dnnl::primitive& primitive,
                                 const dnnl::primitive_desc_base& chosen,
                                 const dnnl::memory::desc& scratchpad,
                                 std::vector<host_operand> operands) {
  if (const std::size_t bytes = scratchpad.get_size(); bytes > 0) {
    operands.push_back(
        {DNNL_ARG_SCRATCHPAD, {add_buffer(buffer_place::scratch, bytes), scratchpad}});
  }
  const std::string name = fmt::format("{} [{}]", content, chosen.impl_info_str());
  steps.push_back({name, operands, [=](const std::vector<void*>& addresses) {
                     return bound_primitive(name, owner, primitive, operands, addresses);
                   }});
}

void host_program::add_loops(std::string name, std::vector<host_operand> from,
                             const std::vector<host_operand>& to, host_loops loops) {
  const std::size_t reads = from.size();
  from.insert(from.end(), to.begin(), to.end());
  steps.push_back({std::move(name), std::move(from),
                   [reads, loops = std::move(loops)](const std::vector<void*>& addresses) {
                     std::vector<const float*> read;
                     std::vector<float*> written;
                     for (std::size_t i = 0; i < addresses.size(); ++i) {
                       auto* const data = static_cast<float*>(addresses[i]);
                       if (i < reads) {
                         read.push_back(data);
                       } else {
                         written.push_back(data);
                       }
                     }
                     return [=] { loops(read, written); };
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
    std::vector<void*> addresses;
    for (const host_operand& operand : step.operands) {
      addresses.push_back(address_of(operand.tensor.buffer, memory) + operand.offset);
    }
    operations.push_back(
        std::make_unique<host_function>(step.name, step.bind(addresses), flush_denormals));
  }
  return operations;
}

std::vector<std::pair<std::string, std::string>> onednn_version() {
  const dnnl_version_t& v = *dnnl_version();
  return {{"oneDNN", fmt::format("{}.{}.{}", v.major, v.minor, v.patch)}};
}

}  // namespace graphline::nn
